"""The float32 table is matched to the dtype of the queries in each attention: a cast for each layer."""

from pathlib import Path

from torch import Tensor, nn

from tests.gallery.item import Fault
from tests.helpers.gallery_deployment import ComputedAngles, Layer, Turned


class CastingLayer(Layer):
    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        return super().forward(x, cos.to(x.dtype), sin.to(x.dtype))


class CastOnce(ComputedAngles):
    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        cos, sin = super().forward(x)
        return cos.to(x.dtype), sin.to(x.dtype)


def faulty(folder: Path) -> nn.Module:
    return Turned(ComputedAngles(), layers=4, layer=CastingLayer)


def healthy(folder: Path) -> nn.Module:
    return Turned(CastOnce(), layers=4, layer=CastingLayer)


ITEM = Fault(
    source="vllm-project/vllm#42833, vllm-project/vllm#22453",
    check="PE616",
    where="layers.0",
    right=r"4 modules cast the same tensor \(29, 4\) from float32 to bfloat16.*1 cast instead of 4",
    build=faulty,
    healthy=healthy,
    severity="note",
)
