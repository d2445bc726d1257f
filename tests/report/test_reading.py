"""The verdict, the order of findings, and numbers as people read them."""

import math

import numpy as np
import pytest

from gnomon.report.document import CheckResult, Finding, Measured, Report, Severity, Status
from gnomon.report.reading import against, checks_in_order, findings_worst_first, number, verdict
from tests.helpers.sample_report import sample_report


def result(code: str, status: Status, severity: Severity = "error", *found: Severity | None) -> CheckResult:
    findings = tuple(Finding("here", "message", "fix", severity=level) for level in found)
    return CheckResult(code, "name", severity, status, findings=findings)


@pytest.mark.parametrize(
    ("checks", "tone", "word", "sentence"),
    [
        ([result("PE101", "passed")], "good", "No fault found", "1 of 1 check passed."),
        (
            [result("PE101", "passed"), result("PE102", "not-applicable")],
            "good",
            "No fault found",
            "1 of 2 checks passed; 1 did not apply.",
        ),
        ([result("PE101", "not-applicable")], "neutral", "Nothing was checked", "None of 1 check applied"),
        ([result("PE101", "failed", "error", None)], "bad", "Faults found", "1 error in 1 check."),
        ([result("PE101", "failed", "warning", None)], "caution", "Look at this", "1 warning in 1 check, no error."),
        (
            [result("PE101", "failed", "error", "note")],
            "good",
            "No fault found",
            "0 of 1 check passed, and 1 note to know of.",
        ),
        ([result("PE101", "crashed"), result("PE102", "passed")], "bad", "Incomplete", "1 of 2 checks crashed."),
        ([result("PE101", "failed")], "bad", "Faults found", "1 error in 1 check."),
    ],
)
def test_the_verdict_tells_the_worst_first(checks: list[CheckResult], tone: str, word: str, sentence: str) -> None:
    said = verdict(Report("x", checks=tuple(checks)))
    assert (said.tone, said.word) == (tone, word)
    assert said.sentence.startswith(sentence)


def test_a_finding_may_be_milder_or_worse_than_its_check() -> None:
    checks = (result("PE300", "failed", "warning", "note", "error"), result("PE200", "failed", "warning", None))
    found = findings_worst_first(Report("x", checks=checks))
    assert [(item.check.code, item.severity) for item in found] == [
        ("PE300", "error"),
        ("PE200", "warning"),
        ("PE300", "note"),
    ]


def test_checks_stand_failed_first_and_worst_first() -> None:
    statuses = [check.status for check in checks_in_order(sample_report(figures=()))]
    assert statuses == ["failed"] * 3 + ["crashed"] + ["passed"] * 16 + ["not-applicable"] * 5
    assert [check.code for check in checks_in_order(sample_report(figures=()))[:4]] == [
        "PE204",
        "PE403",
        "PE307",
        "PE502",
    ]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (512, "512"),
        (10000.0, "10000"),
        (1e5, "100000"),
        (5.87654e-8, "5.877e-08"),
        (0.25, "0.25"),
        (math.nan, "nan"),
        (-math.inf, "-inf"),
        (True, "yes"),
        (None, "none"),
        ("int64", "int64"),
        ([1, 2.5], "[1, 2.5]"),
        ({"kind": "yarn", "factor": 8.0}, "(kind yarn, factor 8)"),
        (np.float32(0.123456), "0.1235"),
        (np.float64(2.0), "2"),
        (np.array([1, 2]), "[1, 2]"),
        (np.int64(7), "7"),
        (np.bool_(True), "yes"),
    ],
)
def test_numbers_are_written_as_people_read_them(value: object, text: str) -> None:
    assert number(value) == text


def test_a_measurement_without_a_threshold_names_none() -> None:
    assert against(Measured("width", 64)) == "width 64"
    assert against(Measured("error", 5.9e-8, 1e-5)) == "error 5.9e-08 (threshold 1e-05)"


def test_a_report_without_a_run_of_the_model_is_only_part_of_an_examination() -> None:
    checks = (
        CheckResult("PE101", "a", "error", "passed"),
        CheckResult("PE302", "b", "error", "not-applicable", detail="--no-forward was given"),
    )
    said = verdict(Report("x", checks=checks))
    assert (said.tone, said.word) == ("neutral", "Partly checked")
    assert said.sentence == "No model was run; 1 of 2 checks passed; 1 did not apply."
