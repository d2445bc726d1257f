"""Batches in pieces, and the losses of their slots."""

import pytest
import torch

from gnomon.lab.measures import Trained
from gnomon.lab.measures.reading import pieces as module
from gnomon.lab.measures.reading.pieces import pieces, pieces_for_maps, token_losses
from gnomon.lab.tasks.base import IGNORED, Batch
from gnomon.lab.training.options import Placing
from tests.helpers.lab_measured import fresh

IDS = torch.arange(15).reshape(5, 3) % 7
LABELS = torch.where(IDS == 3, IGNORED, IDS)


def test_pieces_hold_every_row_once_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CELLS", 2 * 3 * 7)  # a row with padding has 3 slots of 7 classes, or of 6 scores
    real = IDS != 2
    parts = list(pieces(fresh(), Batch(IDS, LABELS, real)))
    assert [len(part.ids) for part in parts] == [2, 2, 1]
    assert torch.equal(torch.cat([part.ids for part in parts]), IDS)
    assert torch.equal(torch.cat([part.labels for part in parts]), LABELS)
    assert torch.equal(torch.cat([part.real for part in parts if part.real is not None]), real)


LONG = torch.zeros(3, 40, dtype=torch.int64)
PADDED = Batch(LONG, LONG, LONG == 0)


@pytest.mark.parametrize(
    ("trained", "batch"),
    [
        (fresh("shaw", max_length=40), Batch(LONG, LONG)),
        (fresh("alibi"), PADDED),
        (fresh("alibi", placing=Placing("random", 50)), Batch(LONG, LONG)),
    ],
    ids=["content", "padding", "random positions"],
)
def test_long_rows_are_cut_by_their_scores_where_each_has_its_own(
    trained: Trained, batch: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "CELLS", 2 * 2 * 40 * 40)  # 2 heads of 40 times 40 scores
    assert [len(part.ids) for part in pieces(trained, batch)] == [2, 1]


def test_long_rows_that_share_a_bias_are_cut_by_their_states_but_not_for_maps(monkeypatch: pytest.MonkeyPatch) -> None:
    trained, batch = fresh("alibi"), Batch(LONG, LONG)
    monkeypatch.setattr(module, "CELLS", 2 * 40 * 64)  # the widest layer is 4 times 16
    assert [len(part.ids) for part in pieces(trained, batch)] == [2, 1]
    assert [len(part.ids) for part in pieces_for_maps(trained, batch)] == [1, 1, 1]


def test_the_losses_are_those_of_single_slots(monkeypatch: pytest.MonkeyPatch) -> None:
    trained = fresh("rotary")
    whole = token_losses(trained, Batch(IDS, LABELS), torch.Generator())
    monkeypatch.setattr(module, "CELLS", 1)
    assert torch.allclose(token_losses(trained, Batch(IDS, LABELS), torch.Generator()), whole, equal_nan=True)
    logs = trained.model(IDS).detach().double().log_softmax(-1)
    assert whole[4, 1].item() == pytest.approx(-logs[4, 1, LABELS[4, 1]].item(), rel=1e-5)
    assert torch.equal(whole.isnan(), LABELS == IGNORED)
