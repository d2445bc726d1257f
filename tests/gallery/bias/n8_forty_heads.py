"""With 40 heads slopes are not those of the plain formula: they follow its rule for 32 heads, and 8 more."""

from pathlib import Path

from torch import nn

from tests.gallery.item import LookAlike
from tests.helpers.gallery_forms import Sloped, alibi


class Forty(Sloped):
    heads, head_dim = 40, 2


def build(folder: Path) -> nn.Module:
    return Forty()


ITEM = LookAlike(
    source="baichuan-inc/Baichuan2#225",
    build=build,
    passes=("PE308",),
    evidence={"claims": (alibi(40),)},
)
