"""Asking for attention weights changes the output: that path has no causal mask.

The fused kernel is told to be causal by a flag, so no mask is made; the path that returns weights takes another branch,
finds no mask, and looks both ways. True of rotary Falcon in transformers 5.24 too.
"""

from pathlib import Path

from torch import Tensor, nn

from tests.gallery.item import Fault
from tests.helpers.gallery_forward import TwoPaths, distances
from tests.helpers.toys import Toy


class WithoutMask(TwoPaths):
    def slow(self, mask: Tensor) -> Tensor:
        return distances(mask.shape[1]) + Toy.bias(self, mask)


def faulty(folder: Path) -> nn.Module:
    return WithoutMask()


def healthy(folder: Path) -> nn.Module:
    return TwoPaths()


ITEM = Fault(
    source="huggingface/transformers#29946",
    check="PE320",
    where="return_attention=True",
    right="looks at later tokens.*causal mask",
    build=faulty,
    healthy=healthy,
)
