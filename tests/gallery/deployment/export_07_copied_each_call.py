"""RT-DETR keeps its position table as a plain attribute and copies it in each call: `.half()` and CUDA graphs fail."""

from pathlib import Path

from torch import Tensor, nn

from tests.gallery.item import Fault
from tests.helpers.gallery_deployment import BufferedAngles, Turned, angles


class CopiedAngles(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.cos, self.sin = angles(400)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return self.cos.to(x.device)[: x.shape[1]], self.sin.to(x.device)[: x.shape[1]]


def faulty(folder: Path) -> nn.Module:
    return Turned(CopiedAngles())


def healthy(folder: Path) -> nn.Module:
    return Turned(BufferedAngles())


ITEM = Fault(
    source="lyuwenyu/RT-DETR#677",
    check="PE602",
    where="rotary",
    right=r"\(400, 4\) of the CPU is copied.*register_buffer\(\"cos\"",
    build=faulty,
    healthy=healthy,
    severity="note",
)
