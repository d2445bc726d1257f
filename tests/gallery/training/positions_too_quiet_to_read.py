"""Attention treats a sentence as a bag of words, though positions are added.

Cause: a factor meant for the words shrinks the positions until no reader of the first block can tell them.
"""

from pathlib import Path

from torch import Tensor

from tests.gallery.item import Fault
from tests.helpers.toys import Toy


class Quiet(Toy):
    def embed(self, tokens: Tensor, ids: Tensor) -> Tensor:
        x: Tensor = self.words(tokens) + 1e-5 * self.positions(ids)
        return x


def faulty(folder: Path) -> Toy:
    return Quiet()


def healthy(folder: Path) -> Toy:
    return Toy()


ITEM = Fault(
    source="page: docs/article.md, item 33",
    check="PE502",
    where="layers.0",
    right="chance is 6%.*be loud enough",
    build=faulty,
    healthy=healthy,
)
