"""`gnomon lab repeat` does a run anew and prints what it measured."""

import json

import pytest
import torch
import typer
from typer.testing import CliRunner

from gnomon.cli.failures import GuardedGroup
from gnomon.cli.lab_repeat import repeat
from gnomon.lab.experiments import Context
from gnomon.lab.suites import Suite, registry
from gnomon.lab.worker import perform
from gnomon.report.lab.results import Run
from tests.helpers.made_up_suite import Made

app = typer.Typer(cls=GuardedGroup, pretty_exceptions_enable=False)
app.callback()(lambda: None)
app.command("repeat")(repeat)

OPTIONS = {
    "task": {"task": "copy", "symbols": 9},
    "lengths": [2, 3],
    "model": {"dim": 16, "num_layers": 1},
    "measures": [{"measure": "training_loss"}],
    "training": {"steps": 2, "batch_size": 2},
}
RUN = Run("train", "copying", "nope", 1, OPTIONS)


class Trains(Made):
    def runs(self, size: object, seeds: object) -> list[Run]:
        return [RUN]


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    registered: dict[str, type[Suite]] = {"made": Trains}
    monkeypatch.setattr(registry, "get", registered.__getitem__)
    monkeypatch.setattr(torch, "set_num_threads", lambda count: None)


def test_it_computes_what_the_run_computes() -> None:
    result = CliRunner().invoke(app, ["repeat", "made", RUN.key, "--seed", "1", "--format", "json"])
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    expected = perform(RUN, Context(1, device="cpu")).measured[""]["training_loss"].values
    assert told["measured"]["nope"]["training_loss"]["values"] == list(expected)
    assert told["run"]["seed"] == 1


def test_as_text_it_is_a_table() -> None:
    text = CliRunner().invoke(app, ["repeat", "made", RUN.key, "--seed", "1", "--quick"]).stdout
    assert text.startswith("copying\n")
    assert text.splitlines()[5].startswith("nope  ")
    assert text.splitlines()[-1].startswith("seed 1, ")


def test_an_unknown_key_is_one_sentence() -> None:
    result = CliRunner().invoke(app, ["repeat", "made", "f" * 20])
    assert result.exit_code == 2
    assert "has no run 'ffffffffffffffffffff' with seed 0" in result.stderr
    assert len(result.stderr.splitlines()) == 1
