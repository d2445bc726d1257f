"""Workflow commands, read back by the rules of the runner."""

import re
from dataclasses import replace

from gnomon.report.document import CheckResult, Finding, Report
from gnomon.report.github import render_github
from tests.helpers.sample_report import sample_report


def parse(line: str) -> tuple[str, dict[str, str], str]:
    """A command as the runner reads it: ::name key=value,key=value::message, then unescaped."""
    match = re.fullmatch(r"::([^ :]+) ([^:]*)::(.*)", line)
    assert match is not None, line
    level, properties, message = match.groups()
    pairs = dict(pair.split("=", 1) for pair in properties.split(","))
    return level, {key: unescape(value) for key, value in pairs.items()}, unescape(message)


def unescape(text: str) -> str:
    for code, char in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(code, char)
    return text


def test_every_finding_is_one_annotation_worst_first_and_the_verdict_comes_last() -> None:
    commands = [parse(line) for line in render_github(sample_report(figures=())).split("\n")]
    assert [(level, properties["title"].split()[0]) for level, properties, _ in commands] == [
        ("error", "PE204"),
        ("error", "PE403"),
        ("error", "PE403"),
        ("warning", "PE307"),
        ("error", "PE502"),
        ("notice", "gnomon"),
    ]
    message = commands[3][2]
    assert message.startswith("encoder.embeddings: The positions are 11.3 times")
    assert "less than 6%" not in message
    assert message.endswith(
        "\nMeasured: norm ratio 11.31\nFix: Multiply the word embeddings by sqrt(384), or divide the table."
    )
    assert commands[-1][2].endswith("3 failed, 1 crashed, 16 passed, 5 not applicable")


def test_hostile_text_comes_back_as_it_was_and_starts_no_command() -> None:
    hostile = "50% a::b, c\r\n::set-output name=x::y\n##[error]z %0A"
    check = CheckResult("PE101", hostile, "error", "failed", findings=(Finding(hostile, hostile, hostile),))
    lines = render_github(replace(Report("x"), target=hostile, checks=(check,))).split("\n")
    assert len(lines) == 2
    level, properties, message = parse(lines[0])
    assert (level, properties) == ("error", {"title": f"PE101 {hostile}"})
    assert message == f"{hostile}: {hostile}\nFix: {hostile}"
    assert parse(lines[1])[2].startswith(hostile)
    assert "\r" not in "".join(lines)


def test_a_note_is_a_notice() -> None:
    check = CheckResult("PE101", "n", "note", "failed", findings=(Finding("a", "b", ""),))
    assert parse(render_github(Report("x", checks=(check,))).split("\n")[0]) == ("notice", {"title": "PE101 n"}, "a: b")


def test_a_file_name_that_is_no_utf8_can_be_printed() -> None:
    assert render_github(Report("model\udc80")).encode("utf-8").count(b"model\\udc80") == 1
