"""A second call with another offset returns the result of the first: angles are remembered by their number only."""

from pathlib import Path

import torch
from torch import Tensor, nn

from tests.gallery.item import Fault
from tests.helpers.toys import DIM, Toy


class Remembers(Toy):
    """Sinusoids for the ids that are passed, computed once for each key."""

    def __init__(self) -> None:
        super().__init__()
        self.memo: dict[object, Tensor] = {}
        del self.positions

    def key(self, ids: Tensor) -> object:
        return tuple(ids.flatten().tolist())

    def embed(self, tokens: Tensor, ids: Tensor) -> Tensor:
        key = self.key(ids)
        if key not in self.memo:
            angles = ids[..., None] * 10_000.0 ** (-torch.arange(0, DIM, 2) / DIM)
            self.memo[key] = torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(-2)
        x: Tensor = self.words(tokens) + self.memo[key]
        return x


class RemembersByLength(Remembers):
    def key(self, ids: Tensor) -> object:
        return tuple(ids.shape)


def faulty(folder: Path) -> nn.Module:
    return RemembersByLength()


def healthy(folder: Path) -> nn.Module:
    return Remembers()


ITEM = Fault(
    source="lucidrains/rotary-embedding-torch#11",
    check="PE322",
    where="the forward",
    right="after a call with other position ids.*make the position ids part of what a cached table",
    build=faulty,
    healthy=healthy,
)
