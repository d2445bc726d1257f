"""The doctor on the gallery: each fault is found by the check, and at the place, that its file names."""

import re
from pathlib import Path

import pytest

from gnomon.doctor import diagnose
from gnomon.report.document import SEVERITIES, CheckResult, Finding
from tests.gallery.item import Fault, LookAlike, items

ALL = dict(items())
FAULTS = {name: item for name, item in ALL.items() if isinstance(item, Fault)}
LOOK_ALIKES = {name: item for name, item in ALL.items() if isinstance(item, LookAlike)}


@pytest.mark.parametrize("name", FAULTS)
def test_the_fault_is_found_by_name_place_and_right_value(name: str, tmp_path: Path) -> None:
    fault = FAULTS[name]
    [check] = diagnose(fault.build(tmp_path), select=fault.check, **fault.evidence).checks
    assert check.status == "failed", (check.status, check.detail, check.measured)
    assert SEVERITIES.index(check.severity) <= SEVERITIES.index(fault.severity), check.severity
    assert any(fault.where in f.where and re.search(fault.right, _said(f), re.DOTALL) for f in check.findings), [
        (f.where, _said(f)) for f in check.findings
    ]


@pytest.mark.parametrize("name", FAULTS)
def test_the_same_thing_without_the_fault_passes(name: str, tmp_path: Path) -> None:
    fault = FAULTS[name]
    evidence = fault.evidence if fault.healthy_evidence is None else fault.healthy_evidence
    [check] = diagnose(fault.healthy(tmp_path), select=fault.check, **evidence).checks
    assert check.status == "passed", (check.status, check.detail, check.findings)


@pytest.mark.parametrize("name", LOOK_ALIKES)
def test_what_only_looks_like_a_fault_is_passed(name: str, tmp_path: Path) -> None:
    item = LOOK_ALIKES[name]
    checks = {c.code: c for c in diagnose(item.build(tmp_path), **item.evidence).checks}
    assert {code: c.detail for code, c in checks.items() if c.status == "crashed"} == {}
    assert {code: c.findings for code, c in checks.items() if _is_error(c)} == {}
    assert {code: checks[code].status for code in item.passes} == dict.fromkeys(item.passes, "passed")


def test_every_file_says_what_the_report_was() -> None:
    assert all(re.search(r"[\w.-]+/[\w.-]+#\d+|page:", item.source) for item in ALL.values())


def _is_error(check: CheckResult) -> bool:
    return check.status == "failed" and check.severity == "error"


def _said(finding: Finding) -> str:
    return f"{finding.message} | {finding.fix} | {dict(finding.measured)}"
