"""ALiBi as a full tensor: 32 heads and 8,192 tokens in float32 are 8 GiB, and no fast kernel takes them.

Under a causal mask a row (1, heads, 1, keys) does the same: softmax ignores what all keys of a query share.
"""

from pathlib import Path

from torch import Tensor, nn

from tests.gallery.item import Fault
from tests.helpers.gallery_deployment import BiasedLayer, ComputedAngles, Turned, whole_alibi


class Whole(BiasedLayer):
    def bias(self, x: Tensor) -> Tensor:
        return whole_alibi(x)


def faulty(folder: Path) -> nn.Module:
    return Turned(ComputedAngles(), layer=Whole)


def healthy(folder: Path) -> nn.Module:
    return Turned(ComputedAngles(), layer=BiasedLayer)


ITEM = Fault(
    source="pytorch/pytorch#96099, Dao-AILab/flash-attention#17, facebookresearch/xformers#700",
    check="PE612",
    where="layers.0",
    right=r"1 GiB at 8200 tokens.*row \(1, heads, 1, keys\)",
    build=faulty,
    healthy=healthy,
    evidence={"lengths": [8200]},
    severity="note",
)
