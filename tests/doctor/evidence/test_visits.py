"""Which rows batches read, however the forward takes them."""

import pytest
import torch
from torch import Tensor

from gnomon.doctor.evidence.visits import visits
from tests.helpers.gallery_training import BareTable
from tests.helpers.tiny_transformers import tiny_model
from tests.helpers.toys import Toy, subject_of


class Sliced(Toy):
    def embed(self, tokens: Tensor, ids: Tensor) -> Tensor:
        x: Tensor = self.words(tokens) + self.positions.weight[2 : tokens.shape[1] + 2]
        return x


class Selected(Toy):
    def embed(self, tokens: Tensor, ids: Tensor) -> Tensor:
        x: Tensor = self.words(tokens) + self.positions.weight.index_select(0, ids[0])
        return x


@pytest.mark.parametrize(
    ("model", "first", "each"), [(Toy(), 0, 2), (BareTable(), 0, 2), (Selected(), 0, 1), (Sliced(), 2, 1)]
)
def test_lookups_indices_and_slices_are_counted(model: Toy, first: int, each: int) -> None:
    found = visits(subject_of(model, batches=[{"tokens": torch.full((2, 5), 7)}, {"tokens": torch.full((2, 3), 7)}]))
    [visited] = found.visited
    expected = torch.zeros(64, dtype=torch.int64)
    expected[first : first + 5] += each
    expected[first : first + 3] += each
    assert visited.counts.tolist() == expected.tolist()
    assert (found.batches, found.refused, visited.last) == (2, (), first + 4)


def test_both_stacks_are_counted() -> None:
    batch = {"input_ids": torch.full((1, 6), 7), "decoder_input_ids": torch.full((1, 4), 7)}
    found = visits(subject_of(tiny_model("bart"), batches=[batch]))
    assert {v.table.name.split(".")[0]: v.last for v in found.visited} == {"encoder": 7, "decoder": 5}


def test_the_module_is_left_as_it_was() -> None:
    subject = subject_of(Toy(), batches=[{"tokens": torch.full((1, 99), 7)}])
    assert len(visits(subject).refused) == 1
    assert not subject.module.training
    subject.module(torch.full((1, 3), 7))
