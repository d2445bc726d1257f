"""How much context lowers the loss."""

import pytest
import torch

from gnomon.errors import GnomonError
from gnomon.lab.experiments.context import Context
from gnomon.lab.measures import Trained
from gnomon.lab.measures.effective_context import EffectiveContext
from gnomon.lab.tasks.base import IGNORED, Batch
from gnomon.lab.tasks.copy import Copy
from tests.helpers.lab_measured import fresh

#: of the right class; the loss is log(1 + 6 exp(-logit)): 0.0149, 0.0055, 0.0020, 0.0149
LOGITS = {5: 6.0, 8: 7.0, 12: 8.0, 20: 6.0}


def known(self: Trained, batch: Batch, generator: torch.Generator) -> torch.Tensor:
    return torch.nn.functional.one_hot(batch.labels.clamp(min=0), 7) * LOGITS[batch.ids.shape[1]]


@pytest.mark.parametrize(("threshold", "expected"), [(0.0, 12), (0.004, 8), (0.02, 5)])
def test_it_is_the_shortest_length_near_the_lowest_loss(
    monkeypatch: pytest.MonkeyPatch, threshold: float, expected: int
) -> None:
    monkeypatch.setattr(Trained, "logits", known)
    measure = EffectiveContext([20, 5, 12, 8], last=2, rows=3, threshold=threshold)
    assert measure.take(fresh(), Context(0)).value() == expected


def test_lengths_beyond_the_table_are_left_out() -> None:
    measure = EffectiveContext([5, 8, 12], last=2, rows=3, threshold=0)
    assert measure.take(fresh("learned", max_length=8), Context(0)).value() in (5, 8)
    assert measure.take(fresh("learned", max_length=4), Context(0)).why == "there are positions for 4 slots only"


def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(GnomonError, match="effective_context needs a language task"):
        EffectiveContext([8], last=2).take(fresh(task=Copy()), Context(0))
    with pytest.raises(GnomonError, match="a threshold of 0 or more, got -1"):
        EffectiveContext([8], last=2, threshold=-1)


def test_every_length_scores_the_same_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    scored = []

    def recorded(self: Trained, batch: Batch, generator: torch.Generator) -> torch.Tensor:
        scored.append(batch.labels[batch.labels != IGNORED])
        return torch.zeros(*batch.ids.shape, 7)

    monkeypatch.setattr(Trained, "logits", recorded)
    EffectiveContext([5, 8, 12], last=2, rows=3).take(fresh(), Context(0))
    assert [len(tokens) for tokens in scored] == [6, 6, 6]
    assert all(torch.equal(scored[0], other) for other in scored[1:])
