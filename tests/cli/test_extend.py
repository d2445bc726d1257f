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
from gnomon.cli.extend_measuring import Measuring
from gnomon.cli.failures import GuardedGroup
from gnomon.errors import GnomonError
from tests.helpers.byte_llama import save_byte_llama, write_text
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
    assert done.stderr.startswith(f"this will be written: {source} for 256 tokens, by yarn\n")
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
    assert "gnomon: No engine could serve the result (hf5@5: it ends)" in done.stderr
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

    monkeypatch.setattr(Measuring, "require_texts", lambda *_: None)
    monkeypatch.setattr(Measuring, "searched", told)
    monkeypatch.setattr(Measuring, "checked", told)
    words = (source, "--to", 256, "-o", tmp_path / "b", "--search", 4, "--text", text, "--seed", 9, "--check", text)
    done = run(*words)
    assert done.stdout.endswith("\n\nwhat was measured\n\nwhat was measured\n")
    block = read_config(tmp_path / "b")["rope_parameters"]
    assert (block["long_factor"], block["attention_factor"]) == ([2.0] * 8, 1.25)
    assert (asked[0][0].budget, asked[0][0].text, asked[0][0].seed) == (4, text, 9)
    assert asked[1][1:3] == (source, tmp_path / "b")
    assert asked[1][0].check == text
    again = run(*(tmp_path / "c" if word == tmp_path / "b" else word for word in words), "--format", "json")
    found = json.loads(again.stdout)
    assert found["search"] == found["check"] == {"measured": 1}


def test_what_would_end_a_check_or_a_search_is_said_before_anything_is_written(source: Path, tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("some words")
    out = tmp_path / "b"
    assert "tokenizer" in sentence(run(source, "--to", 256, "-o", out, "--check", text))
    assert "tokenizer" in sentence(run(source, "--to", 256, "-o", out, "--search", 4, "--text", text))
    save_byte_llama(tmp_path / "bytes")
    words = (tmp_path / "bytes", "--to", 256, "-o", out, "--check", text)
    assert "has 10 tokens, too few to measure on" in sentence(run(*words))
    write_text(text, 300)
    assert "rows of 301 need 301" in sentence(run(*words, "--check-length", 301))
    search = (tmp_path / "bytes", "--to", 256, "-o", out, "--search", 4, "--text", text)
    assert "has 300 tokens" in sentence(run(*search))
    out.mkdir()
    assert "exists already" in sentence(run(*search, "--search-length", 100))
    assert "exists already" in sentence(run(*words))


def test_a_check_that_ends_early_leaves_what_was_written_and_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_byte_llama(tmp_path / "a")
    text, out = write_text(tmp_path / "text.txt", 2000), tmp_path / "b"

    def ended(*_: Any) -> Any:
        raise GnomonError("it ended")

    monkeypatch.setattr(Measuring, "checked", ended)
    done = run(tmp_path / "a", "--to", 256, "-o", out, "--check", text)
    assert (done.code, done.stderr.splitlines()[-1]) == (2, "gnomon: it ended")
    assert done.stdout.startswith(f"wrote {out}: ")
    assert f"gnomon: wrote {out}, and checks it now" in done.stderr
    assert (out / "config.json").exists()


def test_a_check_at_given_lengths_is_drawn(tmp_path: Path) -> None:
    save_byte_llama(tmp_path / "a")
    text, figure = write_text(tmp_path / "text.txt", 3000), tmp_path / "losses.svg"
    words = (tmp_path / "a", "--to", 128, "-o", tmp_path / "b", "--check", text, "--format", "json")
    done = run(*words, "--check-length", 64, "--check-length", 100, "--check-figure", figure)
    found = json.loads(done.stdout)
    assert [at["length"] for at in found["check"]["lengths"]] == [64, 100]
    assert found["schema_version"] == 1
    assert "gnomon: the check of both models reads " in done.stderr
    assert figure.read_text().startswith("<?xml")


UNREAD = [
    (("--kind", "cubic"), "--kind: nothing is interpolated in a model without tables"),
    (("--method", "yarn", "--keep", "5"), "--keep: nothing is kept in a model without tables"),
    (("--alpha", "0.3"), "--alpha: there are no digits"),
    (("--part", "encoder"), "--part: the model has no two stacks"),
    (("--optimizer",), "--optimizer: no table of positions changes"),
    (("--gguf",), "--gguf: there is no GGUF file in"),
    (("--search-length", "99"), "--search-length is for a search"),
    (("--check-length", "99"), "are for a check: --check TEXT"),
    (("--check-figure", "a.svg"), "are for a check: --check TEXT"),
]


@pytest.mark.parametrize(("words", "said"), UNREAD)
def test_an_option_that_nothing_reads_is_refused(source: Path, words: tuple[str, ...], said: str) -> None:
    assert said in sentence(run(source, "--to", 256, "--dry-run", *words))


def test_engines_are_shown_by_what_they_do(source: Path) -> None:
    text = run(source, "--to", 256, "--dry-run", "--method", "ntk").stdout
    table = text.partition("\nengine ")[2].splitlines()
    assert "reference" in table[1]
    alike = " ".join(table).partition("like the reference: ")[2]
    assert "vllm@" in alike
    assert not any(line.startswith("vllm@") and "equal" in line for line in table)
    few = run(source, "--to", 256, "--dry-run", "--stack", "vllm,hf4@4.43").stdout
    assert [name for name in ("vllm@", "hf4@4.43", "sglang@", "llama.cpp@") if name in few] == ["vllm@", "hf4@4.43"]


def test_a_factor_beyond_all_that_is_published_is_said_first(source: Path) -> None:
    text = run(source, "--to", 64 * 33, "--dry-run", "--stack", "vllm").stdout
    costs = " ".join(text.partition("what it costs")[2].split())
    assert costs.startswith("- No published result supports a factor of 33: YaRN was tried up to 32")
    assert "published result" not in run(source, "--to", 64 * 32, "--dry-run", "--stack", "vllm").stdout


def test_what_a_killed_run_left_is_named_and_stays(source: Path, tmp_path: Path) -> None:
    for name in (".b.0123abcd.part", ".b.89abcdef.part"):
        (tmp_path / name).mkdir()
    for name in (".b.c.0123abcd.part", ".b.part", ".bb.0123abcd.part", "b.0123abcd.part"):
        (tmp_path / name).mkdir()
    outcome = run(source, "--to", "256", "-o", tmp_path / "b")
    assert outcome.code == 0
    [line] = [line for line in outcome.stderr.splitlines() if "an earlier run left" in line]
    assert ".b.0123abcd.part, .b.89abcdef.part in" in line
    assert ".b.c." not in line
    assert (tmp_path / ".b.0123abcd.part").is_dir()
    assert "an earlier run left" not in run(source, "--to", "256", "-o", tmp_path / "fresh").stderr


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


@pytest.mark.parametrize(
    ("number", "said"), [(signal.SIGTERM, "terminated"), (signal.SIGHUP, "ended, because its terminal was closed")]
)
def test_a_run_that_is_ended_leaves_nothing(source: Path, tmp_path: Path, number: signal.Signals, said: str) -> None:
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
        child.send_signal(number)
        told = child.stdout.read()
    assert child.returncode == 128 + number
    assert told.endswith(f"gnomon: {said}\n")
    assert list(tmp_path.iterdir()) == [source]
