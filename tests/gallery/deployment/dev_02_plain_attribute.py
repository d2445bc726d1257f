"""The sinusoid tables of fairseq and others are plain attributes: `.to(device)` leaves them behind."""

from pathlib import Path

from torch import Tensor, nn

from tests.gallery.item import Fault
from tests.helpers.gallery_deployment import BufferedAngles, Turned, angles


class PlainAngles(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table = angles(64)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        cos, sin = self.table
        return cos[: x.shape[1]], sin[: x.shape[1]]


def faulty(folder: Path) -> nn.Module:
    return Turned(PlainAngles())


def healthy(folder: Path) -> nn.Module:
    return Turned(BufferedAngles())


ITEM = Fault(
    source="facebookresearch/fairseq#5213, tatp22/multidim-positional-encoding#33",
    check="PE602",
    where="layers.0",
    right=r"rotary\.table.*register_buffer\(\"table\", \.\.\., persistent=False\)",
    build=faulty,
    healthy=healthy,
    severity="warning",
)
