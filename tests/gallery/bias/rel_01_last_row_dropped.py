"""The relative matrix of a Transformer-XL block is wrong: after the padding trick the last row is cut, not the first.

Rows 0 1 2, 10 11 12, 20 21 22 should become 2 0 10, 11 12 0, 20 21 22 (what counts is the lower triangle); the faulty
code gives 0 0 1, 2 0 10, 11 12 0: each row holds the numbers of the query before.
"""

from pathlib import Path

import torch
from torch import Tensor, nn

from tests.gallery.item import Fault
from tests.helpers.gallery_forms import Shifted, transformer_xl


class Wrong(Shifted):
    def shift(self, x: Tensor) -> Tensor:
        batch, heads, queries, width = x.shape
        padded = torch.cat((x.new_zeros(batch, heads, queries, 1), x), dim=-1)
        return padded.view(batch, heads, width + 1, queries)[:, :, :-1].reshape(x.shape)


def faulty(folder: Path) -> nn.Module:
    return Wrong()


def healthy(folder: Path) -> nn.Module:
    return Shifted()


ITEM = Fault(
    source="labmlai/annotated_deep_learning_paper_implementations#185",
    check="PE315",
    where="blocks.*",
    right=r"though neither of them changed.*drop the first row",
    build=faulty,
    healthy=healthy,
    evidence={"claims": (transformer_xl(4, 8),)},
)
