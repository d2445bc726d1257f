"""Words are wrong all over: the shift reads rows with the wrong stride, and takes in a zero of the padding.

Three queries and five distances: padded to six columns, viewed as six rows of three, the first row dropped. The
faulty code read rows of three from the start of the padded matrix.
"""

from pathlib import Path

import torch
from torch import Tensor, nn

from tests.gallery.item import Fault
from tests.helpers.gallery_forms import ShiftedBothWays, transformer_xl


class Wrong(ShiftedBothWays):
    def shift(self, x: Tensor) -> Tensor:
        batch, heads, queries, _ = x.shape
        padded = torch.cat((x.new_zeros(batch, heads, queries, 1), x), dim=-1)
        return padded.flatten(2)[..., : queries * queries].view(batch, heads, queries, queries)


def faulty(folder: Path) -> nn.Module:
    return Wrong()


def healthy(folder: Path) -> nn.Module:
    return ShiftedBothWays()


ITEM = Fault(
    source="second-state/cohere_transcribe_rs#4",
    check="PE315",
    where="blocks.*",
    right=r"though neither of them changed.*drop the first row",
    build=faulty,
    healthy=healthy,
    evidence={"claims": (transformer_xl(4, 8),)},
)
