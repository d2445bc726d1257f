"""The report as text: golden lines, 80 columns, no colours unless asked."""

import re
from dataclasses import replace

import pytest
from rich.cells import cell_len

from gnomon.report.document import CheckResult, Finding, FoundEncoding, Measured, Report
from gnomon.report.text import render_text
from tests.helpers.sample_report import TARGET, sample_report

SMALL = Report(
    "models/encoder",
    (FoundEncoding("learned", "embeddings", {"max_length": 512, "dim": 384}, "weights"),),
    (
        CheckResult("PE101", "width-mismatch", "error", "passed", "", 0.1, "", (Measured("width", 384, 384),)),
        CheckResult(
            "PE401", "left-padding", "error", "not-applicable", "", 0.0, "no forward pass: --no-forward was given"
        ),
        CheckResult(
            "PE204",
            "duplicated-rows",
            "error",
            "failed",
            "Every position has its own row.",
            0.1,
            "",
            (Measured("smallest distance", 0.0, 1e-6),),
            (
                Finding("embeddings", "Rows 7 and 8 are close.", "", severity="note"),
                Finding(
                    "embeddings.position_embeddings.weight",
                    "Rows 3 and 4 of the table hold the same vector, so that these positions look alike.",
                    "Train the table from a fresh initialisation.",
                    {"cosine": 1.0, "pairs": 1},
                ),
            ),
        ),
        CheckResult(
            "PE502", "gradients", "warning", "crashed", "", 0.0, "Traceback:\n  line 1\nRuntimeError: no gradient"
        ),
    ),
    (),
    "0.1.0",
)

GOLDEN = """\
gnomon 0.1.0: models/encoder
Faults found: 1 error and 1 note in 4 checks.

Encodings
  learned at embeddings (from weights)
      max_length 512, dim 384

Findings
  error PE204 duplicated-rows
    where     embeddings.position_embeddings.weight
    found     Rows 3 and 4 of the table hold the same vector, so that these
              positions look alike.
    measured  cosine 1, pairs 1
    fix       Train the table from a fresh initialisation.

  note PE204 duplicated-rows
    where     embeddings
    found     Rows 7 and 8 are close.
    measured  smallest distance 0 (threshold 1e-06)

Crashed
  PE502 gradients: RuntimeError: no gradient (the trace is in the json and html
        forms)

Passed
  PE101 width-mismatch: width 384 (threshold 384)

Not applicable
  PE401 left-padding: no forward pass: --no-forward was given

1 failed, 1 crashed, 1 passed, 1 not applicable"""


def test_a_small_report_reads_as_written_here() -> None:
    assert render_text(SMALL) == GOLDEN


def test_printing_a_report_gives_the_same_text() -> None:
    assert str(SMALL) == GOLDEN


def test_no_line_is_wider_than_80_columns_whatever_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    text = render_text(sample_report(figures=()))
    assert max(len(line) for line in text.splitlines()) <= 80
    assert any(len(line) > 70 for line in text.splitlines())
    assert TARGET in text.replace("\n", "")  # nothing is cut, only broken


@pytest.mark.parametrize("width", [40, 60, 80, 120])
@pytest.mark.parametrize("name", ["x" * 300, "layer." * 50, "层" * 120, "word " * 60])
def test_long_names_are_broken_and_kept_whole(name: str, width: int) -> None:
    hostile = replace(
        SMALL,
        target=name,
        checks=(CheckResult("PE101", name, "error", "failed", findings=(Finding(name, name, name),)),),
    )
    lines = render_text(hostile, width=width).splitlines()
    assert max(cell_len(line) for line in lines) <= width
    squeezed = re.sub(r"\s", "", "".join(lines))
    assert squeezed.count(re.sub(r"\s", "", name)) == 5  # the target, the check, where, found and fix


def test_there_is_no_colour_unless_asked() -> None:
    assert "\x1b" not in render_text(sample_report(figures=()))


def test_colours_change_no_character_of_the_text() -> None:
    report = sample_report(figures=())
    colored = render_text(report, color=True)
    assert "\x1b[1;31mFaults found:\x1b[0m" in colored
    assert re.sub(r"\x1b\[[\d;]*m", "", colored) == render_text(report)


def test_names_cannot_steer_the_terminal() -> None:
    hostile = "\x1b[2J\x07evil\r\n\u202egnp\udc80"
    report = replace(
        SMALL,
        target=hostile,
        encodings=(FoundEncoding(hostile, hostile, {hostile: hostile}, "config"),),
        checks=(CheckResult(hostile, hostile, "error", "failed", findings=(Finding(hostile, hostile, hostile),)),),
    )
    text = render_text(report)
    assert all(char.isprintable() or char == "\n" for char in text)
    assert "\\x1b[2J\\x07evil \\u202egnp\\udc80" in text


def test_findings_come_worst_first_and_passed_checks_give_their_number_against_the_threshold() -> None:
    text = render_text(sample_report(figures=()))
    heads = re.findall(r"^  (error|warning|note) (PE\d+)", text, flags=re.MULTILINE)
    assert heads == [("error", "PE204"), ("error", "PE403"), ("error", "PE403"), ("warning", "PE307")]
    assert "\n  PE207 table-against-reference: largest error 5.9e-08 (threshold 1e-05)\n" in text
    assert text.endswith("3 failed, 1 crashed, 16 passed, 5 not applicable")


def test_a_report_without_checks_does_not_claim_health() -> None:
    assert "Nothing was checked" in render_text(Report("x"))


def test_checks_that_lack_the_same_evidence_share_a_line() -> None:
    checks = tuple(
        CheckResult(code, f"name-{code}", "error", "not-applicable", detail=reason)
        for code, reason in (("PE101", "no config"), ("PE201", "no tensors"), ("PE202", "no tensors"))
    )
    lines = render_text(Report("x", checks=checks)).splitlines()
    assert "  PE101 name-PE101: no config" in lines
    assert "  PE201, PE202: no tensors" in lines
