"""Token accuracy: the share of scored slots that are right."""

import pytest
import torch

from gnomon.errors import GnomonError
from gnomon.lab.experiments.context import Context
from gnomon.lab.measures import Trained
from gnomon.lab.measures.token_accuracy import TokenAccuracy
from gnomon.lab.tasks.base import IGNORED, Batch
from tests.helpers.lab_measured import Count, fresh


def test_scored_slots_count_alike_wherever_they_stand(monkeypatch: pytest.MonkeyPatch) -> None:
    labels = torch.tensor([[IGNORED, 1, 2], [0, IGNORED, IGNORED], [0, 3, 2]])
    predicted = torch.tensor([[4, 1, 5], [0, 1, 2], [1, 3, 2]])  # right: 1 of 2, 1 of 1, 2 of 3
    one_hot = torch.nn.functional.one_hot(predicted, 7).float()
    monkeypatch.setattr(Trained, "logits", lambda self, batch, generator: one_hot)
    monkeypatch.setattr(Count, "batch", lambda *_: Batch(labels.clamp(min=0), labels))
    assert TokenAccuracy([3], rows=3).take(fresh(), Context(0)).value(3) == pytest.approx(4 / 6)


def test_greedy_decoding_reads_what_it_wrote(monkeypatch: pytest.MonkeyPatch) -> None:
    """Against decoding that runs the whole row anew for each token; rows begin to write at slots 2 and 3."""
    trained = fresh("t5", seed=3)
    ids = torch.tensor([[0, 1, 2, 3, 4, 5], [6, 5, 4, 1, 3, 0]])
    rows, labels = ids.clone(), torch.full_like(ids, IGNORED)
    for row, start in enumerate((2, 3)):
        for slot in range(start, 6):
            token = int(trained.model(rows[row : row + 1, : slot + 1])[0, -1].argmax())
            labels[row, slot] = token
            if slot < 5:
                rows[row, slot + 1] = token
    labels[0, 5] = (labels[0, 5] + 1) % 7  # one that it does not write
    monkeypatch.setattr(Count, "batch", lambda *_: Batch(ids, labels))
    measured = TokenAccuracy([6], rows=2, decoding="greedy").take(trained, Context(0))
    assert measured.value(6) == pytest.approx(6 / 7)


@pytest.mark.parametrize("encoding", ["nope", "learned", "rotary", "alibi", "shaw"])
def test_written_tokens_are_those_of_decoding_without_a_cache(encoding: str) -> None:
    from gnomon.lab.measures.reading.answers import answers

    trained = fresh(encoding, seed=5)
    ids = torch.randint(7, (3, 9), generator=torch.Generator().manual_seed(1))
    labels = ids.clone()
    labels[:, :4] = IGNORED
    written = answers(trained, Batch(ids, labels), torch.Generator(), "greedy")
    rows = ids[:, :5]
    for _ in range(5):
        rows = torch.cat((rows, trained.model(rows)[:, -1:].argmax(-1)), dim=1)
    assert torch.equal(written[:, 4:], rows[:, 5:])


def test_labels_of_slots_are_not_written() -> None:
    trained = fresh(task=Count(classes=3))
    trained.task.autoregressive = False
    with pytest.raises(GnomonError, match="take decoding='teacher'"):
        TokenAccuracy([4], decoding="greedy").take(trained, Context(0))
    assert TokenAccuracy([4]).take(trained, Context(0)).value(4) is not None
