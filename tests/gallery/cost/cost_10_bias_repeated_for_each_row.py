"""The ALiBi mask is repeated for each row of the batch, where a view would do: memory grows with the batch."""

from pathlib import Path

from torch import Tensor, nn

from tests.gallery.item import Fault
from tests.helpers.gallery_deployment import BiasedLayer, ComputedAngles, Turned, whole_alibi


class Repeats(BiasedLayer):
    def bias(self, x: Tensor) -> Tensor:
        return whole_alibi(x).repeat(x.shape[0], 1, 1, 1)


class Expands(BiasedLayer):
    def bias(self, x: Tensor) -> Tensor:
        return whole_alibi(x).expand(x.shape[0], -1, -1, -1)


def faulty(folder: Path) -> nn.Module:
    return Turned(ComputedAngles(), layer=Repeats)


def healthy(folder: Path) -> nn.Module:
    return Turned(ComputedAngles(), layer=Expands)


ITEM = Fault(
    source="facebookresearch/metaseq#333",
    check="PE612",
    where="layers.0",
    right=r"repeat makes a bias \(2, 4, 61, 61\) that is the same for every row.*expand it over the batch",
    build=faulty,
    healthy=healthy,
    severity="warning",
)
