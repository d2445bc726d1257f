"""The model that claims about training share."""

import torch

from gnomon.encodings import Learned
from gnomon.lab.claims.small import IGNORED, Tagger, accuracy, fit, token_before


def test_the_class_of_a_token_is_the_token_before_it() -> None:
    ids, labels = token_before(5, symbols=3, rows=4)(torch.Generator().manual_seed(1))
    assert ids.shape == labels.shape == (4, 5)
    assert int(ids.max()) == 2
    assert torch.equal(labels[:, 1:], ids[:, :-1])
    assert set(labels[:, 0].tolist()) == {IGNORED}


def test_accuracy_counts_scored_tokens_alone() -> None:
    class Says(torch.nn.Module):
        def forward(self, ids: torch.Tensor, first: int = 0) -> torch.Tensor:
            return torch.nn.functional.one_hot(ids, 4).float()

    ids, labels = torch.tensor([[1, 2, 3]]), torch.tensor([[IGNORED, 2, 0]])
    assert accuracy(Says(), (ids, labels)) == 0.5


def with_table(rows: int, width: int) -> tuple[Tagger, Learned]:
    torch.manual_seed(0)
    table = Learned(rows, width)
    return Tagger(4, 4, table, dim=width, layers=1), table


def test_positions_start_where_they_are_told_to() -> None:
    model, table = with_table(8, 8)
    ids = torch.tensor([[1, 2, 3]])
    with torch.no_grad():
        moved = model(ids, 5)
        assert not torch.allclose(model(ids), moved)
        table.weight[:3] = table.weight[5:8].clone()
        assert torch.allclose(model(ids), moved)


def test_training_lowers_the_loss_and_leaves_what_is_frozen() -> None:
    model, table = with_table(6, 16)
    table.requires_grad_(False)
    before = table.weight.clone()
    losses = fit(model, token_before(6, symbols=4), torch.Generator().manual_seed(0), steps=40)
    assert losses[-1] < losses[0]
    assert torch.equal(table.weight, before)
