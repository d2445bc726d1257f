"""In a batch only row 0 generates anything sensible: the map of what to predict is set for the first row alone."""

from pathlib import Path

import torch
from torch import Tensor, nn

from tests.gallery.item import Fault
from tests.helpers.toys import Toy


class Predicts(Toy):
    """Gives each place the state of the place it is to predict from."""

    def rows(self, target: Tensor) -> Tensor:
        return target

    def forward(self, tokens: Tensor) -> Tensor:  # type: ignore[override]
        target = torch.zeros(*tokens.shape, tokens.shape[1])
        self.rows(target)[:] = torch.eye(tokens.shape[1])
        return target @ super().forward(tokens)


class FirstRow(Predicts):
    def rows(self, target: Tensor) -> Tensor:
        return target[:1]


def faulty(folder: Path) -> nn.Module:
    return FirstRow()


def healthy(folder: Path) -> nn.Module:
    return Predicts()


ITEM = Fault(
    source="huggingface/transformers#7267",
    check="PE305",
    where="the batch axis",
    right="equal rows of a batch differ.*the same for every row",
    build=faulty,
    healthy=healthy,
)
