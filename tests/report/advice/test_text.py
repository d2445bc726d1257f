"""Advice as text: what a reader looks for is there, in lines that fit, and safe for a terminal."""

from dataclasses import replace

import pytest
from rich.cells import cell_len

from gnomon.report.advice.document import Advice, Recommendation, Risk
from gnomon.report.advice.text import call, render_advice
from tests.report.advice.test_document import ADVICE, BEST


def test_a_small_advice_is_written_so() -> None:
    assert render_advice(ADVICE) == str(ADVICE)
    assert render_advice(ADVICE).splitlines() == [
        "gnomon 0.0: advice",
        "For: task code, trained 512",
        "Assumed: dim 512",
        "",
        "1. yarn, 3 points: stretched",
        "   build     build('rotary', head_dim=64, frequencies={'kind': 'yarn', 'factor':",
        "               8.0})",
        "   numbers   slopes [0.5, 0.25]",
        "   points    +4 works [some_rule]",
        "             -1 far [other_rule]",
        "   do        fine-tune",
        "   costs     table: 4.0 KiB (64 x 64)",
        "   watch     PE102: config differs",
        "   evidence  arithmetic: 4 x 2 = 8 (by hand)",
        "",
        "2. keep, 0 points: as it is",
        "   build     build('rotary')",
        "",
        "Ruled out",
        "  learned: too short [some_rule]",
        "",
        "The article's table",
        "  long: the article says sinusoids; advised here: yarn",
        "   differs   they fail",
    ]


def test_the_trace_is_shown_when_asked_for() -> None:
    assert "Rules that fired" not in render_advice(ADVICE)
    lines = render_advice(ADVICE, explain=True).splitlines()
    start = lines.index("Rules that fired")
    assert lines[start + 1 :] == [
        "  some_rule: It does.",
        "   read      trained 512",
        "   changed   yarn: +4, works",
        "   source    a table",
    ]


def test_from_the_fourth_on_a_line_each() -> None:
    many = replace(ADVICE, recommendations=tuple(replace(BEST, name=f"way{place}") for place in range(1, 6)))
    lines = render_advice(many, width=200).splitlines()
    start = lines.index("Further down")
    assert lines[start + 1].startswith("  4. way4, 3 points: build('rotary', head_dim=64")
    assert lines[start + 2].startswith("  5. way5")


@pytest.mark.parametrize("width", [40, 61, 80, 100])
def test_no_line_is_wider_than_asked(width: int) -> None:
    wide = replace(ADVICE, assumptions=("位置编码" * 40, "a/path/" * 30))
    text = render_advice(wide, explain=True, width=width)
    assert max(map(cell_len, text.splitlines())) <= width


def test_colours_are_put_on_only_when_asked_for_and_change_no_word() -> None:
    painted = render_advice(ADVICE, color=True)
    assert "\x1b[1m1. yarn" in painted
    plain = painted
    for code in ("\x1b[1m", "\x1b[2m", "\x1b[0m"):
        plain = plain.replace(code, "")
    assert plain == render_advice(ADVICE)


def test_control_characters_are_spelled_out() -> None:
    hostile = Advice({}, (), (Recommendation("x\x1b[31m", "rotary", "t\nt", risks=(Risk("a\x07", "PE1"),)),))
    text = render_advice(hostile)
    assert "\x1b" not in text
    assert "\x07" not in text


def test_the_call_is_python_that_builds_it() -> None:
    from gnomon.encodings import build

    given = {"head_dim": 64, "frequencies": {"kind": "plain", "base": 84000.0}}
    built = eval(call(Recommendation("rotary", "rotary", "", given)), {"build": build})
    assert built.options == build("rotary", **given).options
