"""The zeros of a bias lie one beside the diagonal: one constant for the whole row, which changes nothing."""

from pathlib import Path

from torch import Tensor, nn

from tests.gallery.item import LookAlike
from tests.helpers.gallery_forms import Sloped, alibi


class Moved(Sloped):
    def distance(self, length: int) -> Tensor:
        return super().distance(length) - 1


def build(folder: Path) -> nn.Module:
    return Moved()


ITEM = LookAlike(
    source="lucidrains/x-transformers#153",
    build=build,
    passes=("PE308", "PE311"),
    evidence={"claims": (alibi(4),)},
)
