"""The experiment `extend`: one training, then several rules for the frequencies."""

from pathlib import Path
from typing import Any

import pytest
import torch

from gnomon.encodings import Rotary
from gnomon.errors import GnomonError
from gnomon.lab.experiments import Context, Outcome, build_experiment
from gnomon.lab.experiments.train import Train
from gnomon.lab.measures.base import Trained
from gnomon.lab.measures.perplexity import Perplexity
from gnomon.report.lab.results import Series

TRAIN: dict[str, Any] = {
    "task": {"task": "copy", "symbols": 5},
    "lengths": [2, 3],
    "measures": [{"measure": "token_accuracy", "lengths": [3, 5], "rows": 8}, {"measure": "training_loss"}],
    "model": {"dim": 16, "num_layers": 1, "num_heads": 2, "encoding": {"encoding": "rotary"}},
    "training": {"steps": 4, "batch_size": 4},
}
METHODS = {"none": {"kind": "plain"}, "linear": {"kind": "linear", "factor": 3.0}}
TUNING = {"lengths": [5, 5], "training": {"steps": 2, "batch_size": 4}}


def run(context: Context, **changed: Any) -> Outcome:
    return build_experiment("extend", {"train": TRAIN, "methods": METHODS, "tuning": TUNING, **changed}).run(context)


def test_each_method_is_measured_as_it_is_and_after_more_training() -> None:
    outcome = run(Context(0))
    assert list(outcome.measured) == ["none", "none, tuned", "linear", "linear, tuned"]
    assert outcome.measured["linear"]["token_accuracy"].at == (3, 5)
    plain, tuned = (outcome.measured[name]["training_loss"].value() for name in ("none", "none, tuned"))
    assert plain != tuned


def test_frequencies_left_alone_measure_what_training_alone_does() -> None:
    alone = build_experiment("train", TRAIN).run(Context(3)).measured[""]
    assert run(Context(3), tuning={}).measured["none"] == alone


def test_a_method_gets_its_own_frequencies_and_the_weights_of_the_one_training(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[float, torch.Tensor]] = []

    def take(self: Perplexity, trained: Trained, context: Context) -> Series:
        encoding = trained.model.stack.encoding
        assert isinstance(encoding, Rotary)
        seen.append((encoding.inverse_frequencies[0], trained.model.stack.embedding.words.weight.detach().clone()))
        return Series.number(0.0)

    monkeypatch.setattr(Perplexity, "take", take)
    run(Context(0), train={**TRAIN, "measures": [{"measure": "perplexity", "lengths": [4]}]})
    assert [frequency for frequency, _ in seen] == [1.0, 1.0, 1 / 3, 1 / 3]
    (_, plain), (_, tuned), (_, moved), _ = seen
    assert torch.equal(plain, Train(**TRAIN).trained(Context(0)).model.stack.embedding.words.weight)
    assert torch.equal(plain, moved)
    assert not torch.equal(plain, tuned)


def test_progress_counts_all_trainings_and_checkpoints_are_apart(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    train = {**TRAIN, "training": {**TRAIN["training"], "save_every": 2}}
    tuning = {**TUNING, "training": {"steps": 2, "batch_size": 4, "save_every": 1}}
    context = Context(0, folder=tmp_path, progress=lambda done, total: told.append((done, total)))
    first = run(context, train=train, tuning=tuning)
    assert told == [(done, 8) for done in range(1, 9)]
    assert sorted(path.parent.name for path in tmp_path.rglob("checkpoint.pt")) == ["trained", "tuned-0", "tuned-1"]
    told.clear()
    assert run(context, train=train, tuning=tuning) == first
    assert told == []  # nothing was trained again


@pytest.mark.parametrize(
    "encoding",
    [{"encoding": "alibi"}, {"encoding": "rotary", "frequencies": {"kind": "plain"}}, [{"encoding": "rotary"}]],
)
def test_only_plain_rotary_models_are_extended(encoding: Any) -> None:
    with pytest.raises(GnomonError, match="and no frequencies of their own"):
        run(Context(0), train={**TRAIN, "model": {**TRAIN["model"], "encoding": encoding}})


def test_a_wrong_rule_costs_no_training() -> None:
    def progress(done: int, total: int) -> None:
        pytest.fail("it trained")

    with pytest.raises(GnomonError, match="linnear"):
        run(Context(0, progress=progress), methods={"a": {"kind": "linnear"}})
