"""Tensor parallelism: each rank makes ALiBi slopes from its own number of heads, so heads 4 to 7 repeat 0 to 3's."""

from pathlib import Path

from torch import nn

from tests.gallery.item import Fault
from tests.helpers.gallery_deployment import ComputedAngles, Turned


class Slopes(Turned):
    def __init__(self, *of_ranks: list[float]) -> None:
        super().__init__(ComputedAngles())
        self.of_ranks = of_ranks


def faulty(folder: Path) -> nn.Module:
    local = [2.0 ** (-2 * h) for h in range(1, 5)]
    return Slopes(local, local)


def healthy(folder: Path) -> nn.Module:
    return Slopes([2.0**-h for h in range(1, 5)], [2.0**-h for h in range(5, 9)])


ITEM = Fault(
    source="bigscience-workshop/Megatron-DeepSpeed#227, flashinfer-ai/flashinfer#1606",
    check="PE609",
    where="rank 1",
    right=r"those of a model with 4 heads.*slice: 0\.03125, 0\.01562, 0\.007812, 0\.003906",
    build=faulty,
    healthy=healthy,
    evidence={"slopes": lambda model: model.of_ranks},
)
