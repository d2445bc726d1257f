"""Cosines and sines of 131,072 positions are registered buffers: DDP sends the same megabytes before every forward."""

from pathlib import Path

from torch import nn

from tests.gallery.item import Fault
from tests.helpers.gallery_deployment import BufferedAngles, Turned


def faulty(folder: Path) -> nn.Module:
    return Turned(BufferedAngles(rows=131_072))


def healthy(folder: Path) -> nn.Module:
    return Turned(BufferedAngles(rows=1024))


ITEM = Fault(
    source="jingyaogong/minimind#855",
    check="PE611",
    where="rotary.cos",
    right=r"2 MiB; DDP sends all of it.*need 0 MiB.*broadcast_buffers=False",
    build=faulty,
    healthy=healthy,
    severity="note",
)
