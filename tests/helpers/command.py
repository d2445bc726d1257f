"""Runs the gnomon command in this process, and puts a doctor of the test's choice behind it."""

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
from typer.testing import CliRunner

from gnomon.cli.app import app
from gnomon.report.document import CheckResult, Finding, FoundEncoding, Report, Severity, Status


class Outcome:
    """How a command ended: exit code, stdout and stderr apart."""

    def __init__(self, code: int, stdout: str, stderr: str) -> None:
        self.code = code
        self.stdout = stdout
        self.stderr = stderr


def gnomon(*words: str) -> Outcome:
    """Run `gnomon WORDS`."""
    result = CliRunner().invoke(app, list(words))
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Outcome(result.exit_code, result.stdout, result.stderr)


def sentence(outcome: Outcome) -> str:
    """The one line on stderr of a command that could not run; fails when there is a traceback or anything else."""
    assert outcome.code == 2
    assert outcome.stdout == ""
    [line] = outcome.stderr.splitlines()
    assert line.startswith("gnomon: ")
    return line.removeprefix("gnomon: ")


def a_report(status: Status = "passed", severity: Severity = "error") -> Report:
    """A report with one encoding and one check that ended so."""
    findings = (Finding("embeddings", "rows 3 and 4 are equal", "draw them anew"),) if status == "failed" else ()
    check = CheckResult("PE203", "duplicated-rows", severity, status, "Two rows are equal.", findings=findings)
    found = FoundEncoding("learned", "embeddings", {"max_length": 512, "dim": 384}, "weights")
    return Report("some-model", (found,), (check,), gnomon="0.0")


def put_doctor(monkeypatch: pytest.MonkeyPatch, diagnose: Callable[..., Report]) -> None:
    """Let the command find `diagnose` (and `inspect`, the same) where the real ones are."""
    fake: Any = ModuleType("gnomon.doctor")
    fake.diagnose = fake.inspect = diagnose
    monkeypatch.setitem(sys.modules, "gnomon.doctor", fake)
