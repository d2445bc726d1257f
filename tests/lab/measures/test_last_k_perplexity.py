"""Perplexity of the last tokens: the same tokens at every length."""

import pytest
import torch

from gnomon.errors import GnomonError
from gnomon.lab.experiments.context import Context
from gnomon.lab.measures import Trained
from gnomon.lab.measures.last_k_perplexity import LastKPerplexity
from gnomon.lab.tasks.base import IGNORED, Batch
from gnomon.lab.tasks.characters import Characters
from gnomon.lab.tasks.copy import Copy
from tests.helpers.lab_measured import Count, fresh, undecided


def test_every_length_scores_the_same_tokens_of_a_real_text(monkeypatch: pytest.MonkeyPatch) -> None:
    scored = []

    def recorded(self: Trained, batch: Batch, generator: torch.Generator) -> torch.Tensor:
        scored.append(batch.labels[batch.labels != IGNORED].reshape(len(batch.labels), -1))
        return torch.zeros(*batch.ids.shape, 256)

    monkeypatch.setattr(Trained, "logits", recorded)
    LastKPerplexity([8, 20, 33], last=5, rows=4).take(fresh(task=Characters("stdlib")), Context(0))
    assert len(scored) == 3
    assert scored[0].shape == (4, 5)
    assert all(torch.equal(scored[0], other) for other in scored[1:])


def test_the_perplexity_of_a_model_that_cannot_decide_is_the_size_of_its_vocabulary() -> None:
    series = LastKPerplexity([6, 9], last=3, rows=2).take(undecided(fresh(task=Count(11))), Context(0))
    assert series.values == pytest.approx((11, 11))


def test_only_the_last_tokens_count() -> None:
    trained = fresh("rotary", seed=2)
    batch = Count().endings(9, last=2, rows=3, longest=9)
    losses = -trained.model(batch.ids).detach().double().log_softmax(-1)
    own = [float(losses[row, slot, batch.labels[row, slot]]) for row in range(3) for slot in (7, 8)]
    expected = torch.tensor(own).mean().exp()
    assert LastKPerplexity([9], last=2, rows=3).take(trained, Context(0)).value(9) == pytest.approx(float(expected))


def test_a_length_without_room_for_the_last_tokens_is_refused() -> None:
    with pytest.raises(GnomonError, match="the last 5 tokens; give lengths of 5 or more, not 4, 8"):
        LastKPerplexity([4, 8], last=5)


def test_a_task_that_is_no_text_is_refused() -> None:
    with pytest.raises(GnomonError, match="last_k_perplexity needs a language task such as characters, got Copy"):
        LastKPerplexity([8], last=2).take(fresh(task=Copy()), Context(0))
