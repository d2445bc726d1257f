"""`gnomon lab`: suites by name, what is refused before any work, and what is printed and written after it."""

import csv
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from gnomon.errors import GnomonError
from gnomon.lab.engines import Engine
from gnomon.lab.engines.base import Tell
from gnomon.lab.store import Store
from gnomon.lab.suites import registry
from gnomon.report.lab.results import Result, Run, Series
from gnomon.report.lab.study import Failure
from tests.helpers.command import Outcome, gnomon, sentence
from tests.helpers.lab_suite import Tiny


class Canned(Engine):
    """Losses that no machine computed."""

    failing: str | None = None
    interrupted = False
    asked: dict[str, Any]

    def do(self, runs: Sequence[Run], store: Store, tell: Tell) -> None:
        sys.stdout.write("what a library prints\n")
        for run in runs:
            if self.interrupted:
                raise KeyboardInterrupt
            if run.variant == self.failing:
                tell(Failure(run, "It is bad."))
            else:
                tell(Result(run, {"": {"training_loss": Series.number(1 + run.seed / 4)}}, seconds=1.0))


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Canned:
    """The suite `tiny`, done by an engine without processes, in a folder of its own."""
    canned = Canned()

    def choose(name: str, **options: Any) -> Canned:
        canned.asked = {"name": name, **options}
        return canned

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("gnomon.lab.engines.choose", choose)
    monkeypatch.setattr("gnomon.lab.machine.DECISIVE", ())
    monkeypatch.setitem(registry._items, "tiny", Tiny)
    return canned


def lab(*words: str) -> Outcome:
    return gnomon("lab", *words)


def refused(*words: str) -> str:
    """The one sentence, of a command that has left nothing behind."""
    before = sorted(Path().rglob("*"))
    words_said = sentence(lab(*words))
    assert sorted(Path().rglob("*")) == before
    return words_said


def test_a_study_is_printed_and_written(engine: Canned) -> None:
    outcome = lab("tiny", "--quick")
    folder = Path("reports/lab/tiny-quick")
    assert outcome.code == 0
    assert outcome.stdout.startswith("gnomon lab tiny (quick): A tiny suite\n")
    assert "what a library prints" not in outcome.stdout
    assert "gnomon: wrote report.html, study.json and results.csv to reports/lab/tiny-quick\n" in outcome.stderr
    assert json.loads((folder / "study.json").read_text())["command"] == "gnomon lab tiny --quick --seeds 3"
    assert "A tiny suite" in (folder / "report.html").read_text()
    assert len(list(csv.reader((folder / "results.csv").read_text().splitlines()))) == 1 + 6
    assert len(list((folder / "runs").iterdir())) == 6


def test_json_on_stdout_is_the_study(engine: Canned) -> None:
    outcome = lab("tiny", "--quick", "--format", "json", "--output", "here")
    assert outcome.stdout.strip() == Path("here/study.json").read_text().strip()
    assert json.loads(outcome.stdout)["seeds"] == [0, 1, 2]


def test_the_full_size_has_a_folder_of_its_own_and_devices_are_told(engine: Canned) -> None:
    lab("tiny", "--device", "auto", "--seeds", "4", "--workers", "2")
    told = json.loads(Path("reports/lab/tiny/study.json").read_text())
    assert (told["size"], told["command"]) == ("full", "gnomon lab tiny --seeds 4 --device auto")
    assert engine.asked == {"name": "local", "device": None, "workers": 2, "address": None}


def test_the_same_command_again_repeats_nothing(engine: Canned) -> None:
    lab("tiny", "--quick")
    engine.failing = "rotary"
    outcome = lab("tiny", "--quick")
    assert outcome.code == 0
    assert "gnomon: 6 of 6 runs were finished before and are taken from reports/lab/tiny-quick\n" in outcome.stderr


def test_runs_that_failed_are_named_and_the_command_ends_with_2(engine: Canned) -> None:
    engine.failing = "alibi"
    outcome = lab("tiny", "--quick")
    assert outcome.code == 2
    assert "gnomon: copy alibi seed 2 failed: It is bad.\n" in outcome.stderr
    assert "It is bad." in outcome.stdout
    assert "It is bad." in Path("reports/lab/tiny-quick/report.html").read_text()


def test_few_seeds_are_allowed_and_said_aloud(engine: Canned) -> None:
    assert "gnomon: nothing is ranked from fewer than 3 seeds\n" in lab("tiny", "--quick", "--seeds", "2").stderr
    assert "fewer than 3" not in lab("tiny", "--quick", "--seeds", "3").stderr


def test_an_interruption_says_what_is_kept(engine: Canned) -> None:
    engine.interrupted = True
    outcome = lab("tiny", "--quick")
    assert outcome.code == 130
    assert "finished runs are kept in reports/lab/tiny-quick; the same command goes on from there" in outcome.stderr
    assert not Path("reports/lab/tiny-quick/study.json").exists()


def test_a_process_that_does_not_lead_prints_and_writes_nothing(
    engine: Canned, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RANK", "1")
    engine.keeps = False
    outcome = lab("tiny", "--quick")
    assert (outcome.code, outcome.stdout, outcome.stderr.replace("what a library prints\n", "")) == (0, "", "")
    assert not Path("reports").exists()


def test_an_unknown_suite_is_refused_with_a_hint(engine: Canned) -> None:
    assert refused("tinny").startswith("No suite is called 'tinny'. Did you mean 'tiny'? Known: ")


@pytest.mark.parametrize("seeds", ["0", "-1", "three"])
def test_seeds_that_are_no_count_are_refused(engine: Canned, seeds: str) -> None:
    assert refused("tiny", "--seeds", seeds).startswith("Invalid value for '--seeds': it must be ")


def test_an_output_that_is_a_file_is_refused(engine: Canned) -> None:
    Path("file").write_text("")
    said = "file is a file; name a folder for the report and the finished runs."
    assert refused("tiny", "-o", "file") == said
    assert refused("tiny", "-o", "file/folder") == said


def test_data_that_are_not_here_are_refused_with_the_command_that_fetches_them(
    engine: Canned, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GNOMON_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(Tiny, "needs", lambda suite, size: ("austen",))
    assert "run `gnomon lab data austen` first" in refused("tiny")


def test_what_the_engine_refuses_is_one_sentence(engine: Canned, monkeypatch: pytest.MonkeyPatch) -> None:
    def choose(name: str, **options: Any) -> Engine:
        raise GnomonError("Nothing answers there.")

    monkeypatch.setattr("gnomon.lab.engines.choose", choose)
    assert refused("tiny", "--engine", "ray", "--address", "host:1") == "Nothing answers there."


def test_a_broken_file_of_a_run_is_refused_and_stays(engine: Canned) -> None:
    lab("tiny", "--quick")
    file = sorted(Path("reports/lab/tiny-quick/runs").iterdir())[0]
    file.write_text("{")
    assert "is no stored run; move it away" in refused("tiny", "--quick")
    assert file.read_text() == "{"


def test_help_lists_every_suite_with_its_question_without_importing_torch() -> None:
    code = "import sys; from gnomon.cli import app\ntry: app(['lab', '-h'])\nfinally: print('torch' in sys.modules)"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    words = " ".join(ended.stdout.split())
    for name, suite in registry:
        assert f" {name} {suite.question} " in words
    assert all(f" {command} " in words for command in ("claims", "data", "repeat"))
    assert words.endswith(" False")


def test_the_help_of_a_suite_begins_with_its_question(engine: Canned) -> None:
    words = " ".join(lab("tiny", "-h").stdout.split())
    assert f" lab tiny [OPTIONS] {Tiny.question} Do the runs " in words


def test_no_suite_has_the_name_of_a_command() -> None:
    assert not {"suite", "claims", "data", "repeat"} & set(registry.names())
