"""`gnomon bench`: what it passes on, where its result goes, and one sentence for what it cannot do."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from gnomon.bench import running
from gnomon.bench.cell import Request
from gnomon.bench.timing import Timing
from gnomon.report.bench.results import Benchmarks, CellResult, Row, Verdict
from tests.helpers.command import gnomon, sentence

WHOLE = "--threads takes whole numbers of at least 1 with commas between, as in 1,2; got "
FAILS = Verdict("R1", "at most 1.10 of copy_", False, 2.0, 1.1, "x", False)
CELL = CellResult("rotary", "made up", "", 1, (Row("copy_", (1.0,)), Row("gnomon", (2.0,))), (FAILS,))


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the command asks for; nothing is measured."""
    seen: dict[str, Any] = {}

    def run(names: list[str], request: Request, **options: Any) -> Benchmarks:
        seen.update(names=names, request=request, **options)
        options["tell"]("rotary", "made up")
        sys.stdout.write("a library says hello")
        return Benchmarks("quick", "gnomon bench", {"cpu": "one"}, (CELL,))

    monkeypatch.setattr(running, "run", run)
    return seen


def test_without_a_name_all_are_run_with_the_usual_settings(asked: dict[str, Any]) -> None:
    outcome = gnomon("bench")
    assert outcome.code == 0
    assert "R1 does not hold here: at most 1.10 of copy_ (2.00x, at most 1.10x)" in outcome.stdout
    assert {"rotary", "decode", "tables", "long-context", "startup"} <= set(asked["names"])
    assert (asked["threads"], asked["timing"], asked["request"].quick) == ([1, 2], Timing(), False)
    assert "transformers" in asked["request"].peers


def test_progress_and_what_libraries_print_stay_out_of_the_result(asked: dict[str, Any]) -> None:
    outcome = gnomon("bench", "rotary", "--format", "json")
    assert json.loads(outcome.stdout)["cells"][0]["title"] == "made up"
    assert "rotary: made up" in outcome.stderr


def test_options_reach_the_run(asked: dict[str, Any]) -> None:
    gnomon("bench", "long-context", "--quick", "--tokens", "300", "--threads", "2,1", "--rounds", "9")
    request, timing = asked["request"], asked["timing"]
    assert (request.quick, request.tokens, asked["threads"], timing.rounds) == (True, 300, [1, 2], 9)
    gnomon("bench", "rotary", "--peers", "torchtune")
    assert asked["request"].peers == ("torchtune",)
    gnomon("bench", "rotary", "--peers", "none")
    assert asked["request"].peers == ()


def test_the_result_can_be_a_file(asked: dict[str, Any], tmp_path: Path) -> None:
    file = tmp_path / "results.json"
    outcome = gnomon("bench", "rotary", "--format", "json", "--output", str(file))
    assert (outcome.code, outcome.stdout) == (0, "")
    assert json.loads(file.read_text())["cells"][0]["verdicts"][0]["holds"] is False


def test_one_run_can_be_a_text_and_numbers(asked: dict[str, Any], tmp_path: Path) -> None:
    text, numbers = tmp_path / "results.txt", tmp_path / "results.json"
    outcome = gnomon("bench", "--json", str(numbers), "--output", str(text))
    assert (outcome.code, outcome.stdout) == (0, "")
    assert json.loads(numbers.read_text())["cells"][0]["title"] == "made up"
    assert "R1 does not hold here" in text.read_text()


@pytest.mark.parametrize("option", ["--output", "--json"])
def test_a_folder_that_takes_no_file_is_said_before_anything_is_run(asked: dict[str, Any], option: str) -> None:
    assert "Cannot write /proc/x" in sentence(gnomon("bench", "rotary", option, "/proc/x"))
    assert asked == {}


def test_trying_leaves_nothing_behind(asked: dict[str, Any], tmp_path: Path) -> None:
    gnomon("bench", "--threads", "0", "--output", str(tmp_path / "results.txt"))
    assert list(tmp_path.iterdir()) == []


def test_the_help_says_that_threads_are_set_by_the_command() -> None:
    assert "whatever OMP_NUM_THREADS says" in " ".join(gnomon("bench", "--help").stdout.replace("│", " ").split())


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["rotery"], "No benchmark is called 'rotery'. Did you mean 'rotary'?"),
        (
            ["rotary", "--threads", "two"],
            f"{WHOLE}'two'.",
        ),
        (
            ["rotary", "--threads", "0"],
            f"{WHOLE}'0'.",
        ),
        (["rotary", "--peers", "numba"], "No peer is called 'numba'; known are transformers, torchtune"),
        (["rotary", "--tokens", "99"], "--tokens is the length of long-context; name that benchmark"),
        (["rotary", "--rounds", "1"], "'--rounds'"),
        (["rotary", "--output", "missing/file.json"], "The folder missing does not exist"),
    ],
)
def test_what_it_cannot_do_is_one_sentence(words: list[str], expected: str) -> None:
    assert expected in sentence(gnomon("bench", *words))
