"""A Conformer encoder takes position terms of the next row: the shift for causal models is used without a causal mask.

With as many distances as places, the upper triangle holds what is left over: numbers of the query below.
"""

from pathlib import Path

from torch import nn

from tests.gallery.item import Fault
from tests.helpers.gallery_forms import Shifted, ShiftedBothWays, transformer_xl


class Wrong(Shifted):
    causal = False


def faulty(folder: Path) -> nn.Module:
    return Wrong()


def healthy(folder: Path) -> nn.Module:
    return ShiftedBothWays()


ITEM = Fault(
    source="ZhengkunTian/OpenTransformer#25, espnet/espnet#2816",
    check="PE315",
    where="blocks.*",
    right=r"though neither of them changed",
    build=faulty,
    healthy=healthy,
    evidence={"claims": (transformer_xl(4, 8),)},
)
