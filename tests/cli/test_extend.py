"""`gnomon extend`: what is said before and after, what is refused, and that an interrupted run leaves nothing."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from gnomon.cli import extend as module
from gnomon.cli.failures import GuardedGroup
from tests.helpers.command import Outcome, sentence
from tests.helpers.rotary_folders import config_folder, read_config, tiny

LLAMA = tiny("llama", rope_theta=5e5)


def run(*words: object) -> Outcome:
    """`gnomon extend WORDS`."""
    app = typer.Typer(cls=GuardedGroup)
    app.command("extend")(module.extend)
    app.command("another")(lambda: None)
    result = CliRunner().invoke(app, ["extend", *map(str, words)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Outcome(result.exit_code, result.stdout, result.stderr)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return config_folder(tmp_path / "a", LLAMA)


def test_the_stacks_are_told_before_and_the_result_after(source: Path, tmp_path: Path) -> None:
    done = run(source, "--to", 256, "-o", tmp_path / "b")
    assert done.code == 0
    assert done.stdout.splitlines()[0] == f"wrote {tmp_path / 'b'}: {source} for 256 tokens, by yarn"
    assert "what it costs" in done.stderr
    assert "hf5@5                reference" in done.stderr
    assert "gnomon: model.safetensors" in done.stderr
    assert read_config(tmp_path / "b")["rope_scaling"]["factor"] == 4.0


def test_a_dry_run_writes_nothing(source: Path, tmp_path: Path) -> None:
    done = run(source, "--to", 256, "--dry-run", "--method", "ntk")
    assert done.code == 0
    assert done.stdout.startswith("nothing is written yet: ")
    assert "rope_theta: 500000.0 -> 2438027" in done.stdout
    assert run(source, "--to", 256, "--dry-run", "-o", tmp_path / "b").code == 0
    assert list(tmp_path.iterdir()) == [source]


def test_json_is_all_that_stdout_has(source: Path, tmp_path: Path) -> None:
    done = run(source, "--to", 256, "-o", tmp_path / "b", "--format", "json")
    found = json.loads(done.stdout)
    assert (found["to"], found["method"], found["output"]) == (256, "yarn", str(tmp_path / "b"))
    assert found["stacks"][0]["stack"] == "hf5@5"
    assert "what it costs" not in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--to", "256"), "Name the new folder with -o OUT, or see what would be done with --dry-run."),
        (("--to", "256", "--dry-run", "--search", "4"), "A search needs a budget and a text"),
        (("--to", "256", "--dry-run", "--check", "nowhere.txt"), "--check measures what was written"),
        (("--to", "256", "-o", "b", "--check", "nowhere.txt"), "There is no text file nowhere.txt."),
        (("--to", "long", "--dry-run"), "A length is 2048, a grid of patches 30x20"),
        (("--to", "12", "--dry-run"), "--to must be longer, got 12."),
        (("--to", "256", "--dry-run", "--method", "tile"), "stretches tables"),
    ],
)
def test_what_cannot_be_done_is_one_sentence_and_exit_code_2(source: Path, words: tuple[str, ...], said: str) -> None:
    assert said in sentence(run(source, *words))


def test_an_output_that_is_there_is_refused_before_anything_is_said(source: Path, tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    assert "exists already, and nothing is overwritten" in sentence(run(source, "--to", 256, "-o", tmp_path / "b"))


def test_what_no_stack_serves_needs_force(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from gnomon.extending import folder
    from gnomon.extending.stacks import StackRow

    monkeypatch.setattr(folder, "rows_of", lambda *_: (StackRow("hf5@5", "stops", None, "it ends"),))
    done = run(source, "--to", 256, "-o", tmp_path / "b")
    assert done.code == 2
    assert "gnomon: No stack could serve the result (hf5@5: it ends)" in done.stderr
    assert not (tmp_path / "b").exists()
    assert run(source, "--to", 256, "-o", tmp_path / "b", "--force").code == 0


class Told:
    """Stands for what a check or a search found."""

    short_factor, long_factor, attention_factor = [1.0] * 8, [2.0] * 8, 1.25

    def __str__(self) -> str:
        return "what was measured"

    def to_dict(self) -> dict[str, Any]:
        return {"measured": 1}


def test_a_search_gives_the_lists_and_a_check_measures_what_was_written(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = tmp_path / "text.txt"
    text.write_text("some words")
    asked: list[Any] = []

    def told(*given: Any) -> Told:
        asked.append(given)
        return Told()

    monkeypatch.setattr(module, "_searched", told)
    monkeypatch.setattr(module, "_checked", told)
    words = (source, "--to", 256, "-o", tmp_path / "b", "--search", 4, "--text", text, "--seed", 9, "--check", text)
    done = run(*words)
    assert done.stdout.endswith("what was measured\n\nwhat was measured\n")
    block = read_config(tmp_path / "b")["rope_parameters"]
    assert (block["long_factor"], block["attention_factor"]) == ([2.0] * 8, 1.25)
    assert asked[0][2:] == (4, text, 9)
    assert asked[1] == (source, tmp_path / "b", text)
    again = run(*(tmp_path / "c" if word == tmp_path / "b" else word for word in words), "--format", "json")
    found = json.loads(again.stdout)
    assert found["search"] == found["check"] == {"measured": 1}


TERMINATED = """
import sys, time
from gnomon.adapters.checkpoints import shard
def slow(*_):
    print("inside", flush=True)
    time.sleep(60)
shard._copy = slow
import typer
from gnomon.cli.extend import extend
from gnomon.cli.failures import GuardedGroup
app = typer.Typer(cls=GuardedGroup)
app.command("extend")(extend)
app.command("another")(lambda: None)
app()
"""


def test_a_run_that_is_terminated_leaves_nothing(source: Path, tmp_path: Path) -> None:
    words = ["extend", str(source), "--to", "256", "-o", str(tmp_path / "b")]
    quiet = {**os.environ, "OMP_NUM_THREADS": "1"}
    with subprocess.Popen(
        [sys.executable, "-c", TERMINATED, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=quiet,
    ) as child:
        assert child.stdout is not None
        assert any(line == "inside\n" for line in child.stdout)
        assert [path.name for path in tmp_path.iterdir() if path.name.endswith(".part")]
        child.send_signal(signal.SIGTERM)
        said = child.stdout.read()
    assert child.returncode == 143
    assert said.endswith("gnomon: terminated\n")
    assert list(tmp_path.iterdir()) == [source]
