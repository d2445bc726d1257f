"""Exact match: a row counts when every scored slot is right."""

from typing import final

import pytest
import torch

from gnomon.errors import GnomonError
from gnomon.lab.experiments.context import Context
from gnomon.lab.measures import Trained, build_measure
from gnomon.lab.measures.accuracy import ExactMatch
from gnomon.lab.tasks.base import IGNORED, Batch, NextToken, Split, Task
from tests.helpers.lab_measured import Count, fresh


@final
class Coins(Task):
    """Rows of six tosses, the last `length` of them the answer."""

    autoregressive = True

    def __init__(self, vocabulary: int) -> None:
        self.vocabulary = vocabulary
        self.output = NextToken()

    def slots(self, length: int) -> int:
        return 6

    def batch(self, split: Split, length: int | None, size: int, generator: torch.Generator) -> Batch:
        tosses = torch.randint(self.vocabulary, (size, 7), generator=generator)
        labels = tosses[:, 1:].clone()
        labels[:, : 6 - (length or 1)] = IGNORED
        return Batch(tosses[:, :-1].contiguous(), labels)


def with_predictions(monkeypatch: pytest.MonkeyPatch, predicted: torch.Tensor) -> Trained:
    one_hot = torch.nn.functional.one_hot(predicted, 7).float()
    monkeypatch.setattr(Trained, "logits", lambda self, batch, generator: one_hot)
    return fresh()


def test_one_wrong_slot_spoils_its_row_and_a_slot_that_is_not_scored_spoils_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    labels = torch.tensor([[IGNORED, 1, 2], [IGNORED, 1, 2], [0, 1, IGNORED], [IGNORED, 1, 2]])
    trained = with_predictions(monkeypatch, torch.tensor([[5, 1, 2], [5, 1, 3], [0, 1, 4], [1, 1, 2]]))
    monkeypatch.setattr(Count, "batch", lambda *_: Batch(labels.clamp(min=0), labels))
    assert ExactMatch([3], rows=4).take(trained, Context(0)).values == (0.75,)


def test_greedy_decoding_and_teacher_forcing_have_the_same_exact_match() -> None:
    """Ten fresh models on answers of a few coin tosses: some rows are right by luck."""
    found: list[float | None] = []
    for seed in range(10):
        trained = fresh("rotary", Coins(2), seed=seed, dim=8, num_layers=1)
        teacher, greedy = (
            ExactMatch([2, 3], rows=30, decoding=decoding).take(trained, Context(seed))
            for decoding in ("teacher", "greedy")
        )
        assert teacher == greedy
        found += teacher.values
    assert 0 < sum(map(bool, found)) < 21  # some rows were right


def test_a_table_that_is_too_short_has_no_number_and_says_why() -> None:
    series = ExactMatch([4, 9], rows=3).take(fresh("learned", max_length=8), Context(0))
    assert series.value(4) is not None
    assert (series.value(9), series.why) == (None, "there are positions for 8 slots only")


def test_rows_as_they_come_give_one_number() -> None:
    assert ExactMatch(rows=3).take(fresh(), Context(0)).at == ()


def test_a_way_of_decoding_that_does_not_exist_is_refused() -> None:
    with pytest.raises(GnomonError, match="teacher or greedy, got 'beam'"):
        build_measure({"measure": "exact_match", "decoding": "beam"})
