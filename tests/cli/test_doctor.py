"""`gnomon doctor`: options reach the doctor, the result goes to stdout alone, the exit code tells the verdict."""

import json
from pathlib import Path
from typing import Any

import pytest

from gnomon.report.document import Report, Severity, Status
from tests.helpers.command import a_report, gnomon, put_doctor, sentence


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the command asked of the doctor; the doctor finds nothing and reports two steps."""
    seen: dict[str, Any] = {}

    def diagnose(target: str, **options: Any) -> Report:
        seen.update(options, target=target)
        options["progress"]("PE101", "rotary-width", 0, 2)
        options["progress"]("PE203", "duplicated-rows", 1, 2)
        options["progress"]("", "done", 2, 2)
        return a_report()

    put_doctor(monkeypatch, diagnose)
    return seen


@pytest.mark.parametrize(
    ("status", "severity", "code"),
    [
        ("passed", "error", 0),
        ("not-applicable", "error", 2),
        ("failed", "error", 1),
        ("failed", "warning", 0),
        ("failed", "note", 0),
        ("crashed", "warning", 2),
    ],
)
def test_the_exit_code_tells_the_verdict(
    monkeypatch: pytest.MonkeyPatch, status: Status, severity: Severity, code: int
) -> None:
    put_doctor(monkeypatch, lambda *_, **__: a_report(status, severity))
    assert gnomon("doctor", "some-model").code == code


def test_every_option_reaches_the_doctor(asked: dict[str, Any]) -> None:
    choice = ("--select", "pe1,PE203", "--ignore", "PE102")
    place = ("--device", "cuda:1", "--dtype", "bfloat16", "--no-forward", "--allow-pickle")
    more = ("--twin", "--thorough", "--causal", "--reference", "before.json")
    assert gnomon("doctor", "some-model", *choice, *place, *more).code == 0
    asked.pop("progress")
    assert asked == {
        "target": "some-model",
        "select": "pe1,PE203",
        "ignore": "PE102",
        "device": "cuda:1",
        "dtype": "bfloat16",
        "forward": False,
        "allow_pickle": True,
        "twin": True,
        "thorough": True,
        "causal": True,
        "reference": "before.json",
    }


def test_without_options_the_doctor_gets_its_defaults(asked: dict[str, Any]) -> None:
    gnomon("doctor", "some-model")
    asked.pop("progress")
    given = {"target": "some-model", "forward": True, "allow_pickle": False, "twin": False, "thorough": False}
    assert asked == given | dict.fromkeys(("select", "ignore", "device", "dtype"))


def test_a_model_that_looks_both_ways_can_be_said_to(asked: dict[str, Any]) -> None:
    gnomon("doctor", "some-model", "--no-causal")
    assert asked["causal"] is False


def test_lengths_are_read_before_the_doctor_is_asked(asked: dict[str, Any], tmp_path: Path) -> None:
    file = tmp_path / "lengths.txt"
    file.write_text("12\n7\n")
    gnomon("doctor", "some-model", "--lengths", str(file))
    assert list(asked["lengths"]) == [12, 7]


def test_a_baseline_is_written_on_request_and_then_fails_no_build(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    put_doctor(monkeypatch, lambda *_, **__: a_report("failed"))
    file = tmp_path / "known.json"
    words = ("doctor", "some-model", "--baseline", str(file))
    assert "cannot be read" in sentence(gnomon(*words))
    first = gnomon(*words, "--update-baseline")
    assert first.code == 0
    assert f"wrote {file}" in first.stderr
    assert json.loads(file.read_text())["findings"] == [
        {"code": "PE203", "where": "embeddings", "message": "rows # and # are equal"}
    ]
    again = gnomon(*words, "--format", "json")
    assert again.code == 0
    assert json.loads(again.stdout)["checks"][0]["findings"][0]["known"] is True


def test_there_is_no_update_without_a_file() -> None:
    assert "--baseline FILE" in sentence(gnomon("doctor", "some-model", "--update-baseline"))


def test_json_is_alone_on_stdout_and_progress_on_stderr(asked: dict[str, Any]) -> None:
    outcome = gnomon("doctor", "some-model", "--format", "json")
    assert json.loads(outcome.stdout)["checks"][0]["code"] == "PE203"
    assert outcome.stderr.splitlines() == ["[1/2] PE101 rotary-width", "[2/2] PE203 duplicated-rows"]


def test_text_is_the_report_as_text(asked: dict[str, Any]) -> None:
    outcome = gnomon("doctor", "some-model")
    assert outcome.stdout == f"{a_report()}\n"
    assert "\x1b" not in outcome.stdout


def test_github_format_writes_workflow_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    put_doctor(monkeypatch, lambda *_, **__: a_report("failed"))
    outcome = gnomon("doctor", "some-model", "--format", "github")
    assert outcome.stdout.startswith("::error title=PE203 duplicated-rows::")
    assert outcome.code == 1


def test_output_goes_to_the_file_and_not_to_stdout(asked: dict[str, Any], tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    outcome = gnomon("doctor", "some-model", "--format", "json", "--output", str(file))
    assert json.loads(file.read_text())["target"] == "some-model"
    assert outcome.stdout == ""
    assert f"wrote {file}" in outcome.stderr
    assert list(tmp_path.iterdir()) == [file]


def test_html_goes_to_a_named_page_when_no_output_is_given(
    asked: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    outcome = gnomon("doctor", "some-model", "--format", "html")
    assert (tmp_path / "gnomon-report.html").read_text().lstrip().lower().startswith("<!doctype html>")
    assert outcome.stdout == ""
    assert "wrote gnomon-report.html" in outcome.stderr


@pytest.mark.parametrize("format", ["text", "json", "html", "github"])
def test_an_output_that_cannot_be_written_stops_before_the_work(
    asked: dict[str, Any], tmp_path: Path, format: str
) -> None:
    file = tmp_path / "missing" / "report"
    words = sentence(gnomon("doctor", "some-model", "--format", format, "--output", str(file)))
    assert str(file.parent) in words
    assert asked == {}


@pytest.mark.parametrize(
    ("option", "value", "allowed"), [("--format", "xml", "github"), ("--dtype", "int8", "bfloat16")]
)
def test_an_unknown_value_lists_the_allowed_ones(asked: dict[str, Any], option: str, value: str, allowed: str) -> None:
    outcome = gnomon("doctor", "some-model", option, value)
    words = sentence(outcome)
    assert f"{value!r} is not one of" in words
    assert allowed in words
    assert "Value error" not in words
    assert asked == {}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "Missing argument 'target'"),
        (("x", "y"), "unexpected extra argument"),
        (("x", "--warp"), "No such option: --warp"),
        (("x", "--output"), "requires an argument"),
    ],
)
def test_a_usage_error_is_one_sentence(words: tuple[str, ...], said: str) -> None:
    assert said in sentence(gnomon("doctor", *words))


@pytest.mark.parametrize("command", ["doctor", "inspect"])
def test_help_names_every_kind_of_file_and_the_short_form_of_output(command: str) -> None:
    text = " ".join(gnomon(command, "--help").stdout.split())
    assert ".safetensors" in text
    assert "--output, -o" in text or "-o, --output" in text
