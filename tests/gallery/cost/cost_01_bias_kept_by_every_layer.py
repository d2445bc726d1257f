"""Each layer keeps the relative bias of its last call: memory grows with layers x batch x heads x length squared."""

from pathlib import Path

from torch import Tensor, nn

from tests.gallery.item import Fault
from tests.helpers.gallery_deployment import BiasedLayer, ComputedAngles, Turned, whole_alibi


class Keeps(BiasedLayer):
    def bias(self, x: Tensor) -> Tensor:
        self.last_bias = whole_alibi(x)
        return self.last_bias


class Drops(BiasedLayer):
    def bias(self, x: Tensor) -> Tensor:
        return whole_alibi(x)


def faulty(folder: Path) -> nn.Module:
    return Turned(ComputedAngles(), layers=4, layer=Keeps)


def healthy(folder: Path) -> nn.Module:
    return Turned(ComputedAngles(), layers=4, layer=Drops)


ITEM = Fault(
    source="NVIDIA-NeMo/Speech#15751",
    check="PE612",
    where="layers.*.last_bias",
    right=rf"4 modules each keep a bias.*{4 * 61 * 61 * 4:,} bytes once, not {4 * 4 * 61 * 61 * 4:,}",
    build=faulty,
    healthy=healthy,
    severity="warning",
)
