"""A table for the model's maximum of 262,144 positions, where the server takes 32,768: eight times the memory."""

from pathlib import Path

from torch import nn

from tests.gallery.item import Fault
from tests.helpers.gallery_deployment import BufferedAngles, Turned


def faulty(folder: Path) -> nn.Module:
    return Turned(BufferedAngles(rows=262_144))


def healthy(folder: Path) -> nn.Module:
    return Turned(BufferedAngles(rows=32_768))


ITEM = Fault(
    source="sgl-project/sglang#28136, nntrainer/nntrainer#4293, NVIDIA/TensorRT-LLM#13859",
    check="PE611",
    where="rotary.cos",
    right=r"262144 rows and takes 4 MiB; the longest input has 32768.*32768 rows take 0\.5 MiB",
    build=faulty,
    healthy=healthy,
    evidence={"lengths": [300, 32_768]},
    severity="note",
)
