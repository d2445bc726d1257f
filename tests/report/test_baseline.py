"""Known findings fail no build; new ones do; a file that is no baseline is refused."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from gnomon.errors import GnomonError
from gnomon.report.baseline import read_baseline, with_known, write_baseline
from gnomon.report.document import CheckResult, Finding, Report
from gnomon.report.reading import verdict

OLD = Finding("layers.0", "angles are off by 0.25 rad at position 2047", "keep float32")
NEW = Finding("layers.1", "angles are off by 0.25 rad at position 2047", "keep float32")


def report(*findings: Finding, severity: str = "error") -> Report:
    check = CheckResult("PE301", "a-check", severity, "failed", findings=findings)  # type: ignore[arg-type]
    return Report("model", checks=(check, CheckResult("PE302", "b-check", "error", "passed")))


def baseline(tmp_path: Path, known: Report) -> Path:
    path = tmp_path / "baseline.json"
    path.write_text(write_baseline(known))
    return path


def test_known_findings_are_shown_and_fail_nothing(tmp_path: Path) -> None:
    marked = with_known(report(OLD), read_baseline(baseline(tmp_path, report(OLD))))
    assert marked.exit_code == 0
    assert marked.ok
    assert marked.checks[0].findings[0].known
    assert "(known)" in str(marked)
    assert verdict(marked).word == "Nothing new"
    assert "1 finding known from the baseline" in verdict(marked).sentence


def test_a_new_place_fails_beside_a_known_one(tmp_path: Path) -> None:
    marked = with_known(report(OLD, NEW), read_baseline(baseline(tmp_path, report(OLD))))
    assert marked.exit_code == 1
    assert [f.known for f in marked.checks[0].findings] == [True, False]
    assert "1 error" in verdict(marked).sentence


def test_numbers_may_differ_but_words_may_not(tmp_path: Path) -> None:
    known = read_baseline(baseline(tmp_path, report(OLD)))
    other_numbers = replace(OLD, message="angles are off by 3.1e-05 rad at position 4095")
    other_words = replace(OLD, message="angles are exact at position 4095")
    assert with_known(report(other_numbers), known).exit_code == 0
    assert with_known(report(other_words), known).exit_code == 1


def test_a_milder_known_check_does_not_hide_a_new_error(tmp_path: Path) -> None:
    mild = replace(OLD, severity="note")
    marked = with_known(report(mild, NEW), read_baseline(baseline(tmp_path, report(mild))))
    assert marked.exit_code == 1


def test_the_file_is_sorted_and_without_repeats() -> None:
    data = json.loads(write_baseline(report(NEW, OLD, OLD)))
    assert [f["where"] for f in data["findings"]] == ["layers.0", "layers.1"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("not json", "is not JSON"),
        pytest.param("[" * 100_000 + "]" * 100_000, "is not JSON", id="nested too deeply"),
        ("[]", "is not a baseline"),
        ('{"baseline_version": 2, "findings": []}', "is not a baseline of version 1"),
        ('{"baseline_version": 1, "findings": [{"code": "PE301"}]}', "without code, where and message"),
        ('{"baseline_version": 1, "findings": 3}', "without code, where and message"),
    ],
)
def test_another_file_is_refused_in_one_sentence(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(text)
    with pytest.raises(GnomonError, match=says):
        read_baseline(path)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(GnomonError, match="cannot be read"):
        read_baseline(tmp_path / "none.json")
