"""Known findings: a file that lists them, so that only new ones fail a build."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from gnomon.errors import GnomonError
from gnomon.report.document import CheckResult, Finding, Report

VERSION = 1
Key = tuple[str, str, str]  #: code, place, message


def findings_of(report: Report) -> frozenset[Key]:
    """What a baseline keeps of a report: its findings, without numbers that a machine may vary."""
    return frozenset(_key(check, finding) for check in report.failed for finding in check.findings)


def write_baseline(report: Report) -> str:
    """The findings of a report as the text of a baseline file, sorted."""
    keys = sorted(findings_of(report))
    found = [{"code": code, "where": where, "message": message} for code, where, message in keys]
    return json.dumps({"baseline_version": VERSION, "findings": found}, indent=2, ensure_ascii=False) + "\n"


def read_baseline(path: Path) -> frozenset[Key]:
    """The findings that a file lists; raises GnomonError with one sentence for a file that is no baseline."""
    try:
        data: Any = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise GnomonError(f"The baseline {path} cannot be read: {error.strerror}.") from None
    except (ValueError, RecursionError):
        raise GnomonError(f"The baseline {path} is not JSON; --update-baseline writes a new one.") from None
    if not isinstance(data, dict) or data.get("baseline_version") != VERSION:
        raise GnomonError(f"{path} is not a baseline of version {VERSION}; --update-baseline writes a new one.")
    try:
        return frozenset((f["code"], f["where"], f["message"]) for f in data["findings"])
    except (KeyError, TypeError):
        raise GnomonError(
            f"The baseline {path} lists findings without code, where and message; --update-baseline writes a new one."
        ) from None


def with_known(report: Report, known: frozenset[Key]) -> Report:
    """The report with the listed findings marked as known: they are shown, and fail no build."""
    return replace(report, checks=tuple(_marked(check, known) for check in report.checks))


def _marked(check: CheckResult, known: frozenset[Key]) -> CheckResult:
    found = (replace(f, known=_key(check, f) in known) for f in check.findings)
    return replace(check, findings=tuple(found))


def _key(check: CheckResult, finding: Finding) -> Key:
    """What stays the same from run to run: measured numbers differ in their last digits."""
    return check.code, finding.where, re.sub(r"\d+(\.\d+)?(e[+-]?\d+)?", "#", finding.message)
