"""Beam search reorders the keys of a cache and leaves the values with the row they were computed for.

The best beam goes on with the history of another one; shapes and lengths agree.
"""

from pathlib import Path

from torch import Tensor, nn

from tests.gallery.item import Fault
from tests.helpers.gallery_caches import Filling, Offsets
from tests.helpers.gallery_decoding import tokens


class KeysAlone(Offsets):
    def reorder(self, rows: Tensor) -> None:
        self.layers = {layer: (k[rows], v) for layer, (k, v) in self.layers.items()}


class WholeRows(Offsets):
    def reorder(self, rows: Tensor) -> None:
        self.layers = {layer: (k[rows], v[rows]) for layer, (k, v) in self.layers.items()}


class Beams(Filling):
    cache: type[Offsets] = WholeRows

    def make_cache(self) -> Offsets:
        return self.cache()


class Mixed(Beams):
    cache = KeysAlone


def faulty(folder: Path) -> tuple[nn.Module, dict[str, Tensor]]:
    return tokens(Mixed())


def healthy(folder: Path) -> tuple[nn.Module, dict[str, Tensor]]:
    return tokens(Beams())


ITEM = Fault(
    source="page: transformers documentation of caches, beam search and reorder_cache",
    check="PE408",
    where="",
    right="after reorder, rows that swapped go on.*positions of each row together",
    build=faulty,
    healthy=healthy,
)
