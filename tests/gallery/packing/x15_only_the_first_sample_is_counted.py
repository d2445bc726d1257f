"""Packed positions are wrong from the second sample on: mask values 1, 2, 3 mark the samples, the code keeps only 1."""

from pathlib import Path
from typing import Any

from torch import Tensor

from tests.gallery.item import Fault
from tests.helpers.gallery_caches import Packed
from tests.helpers.gallery_decoding import tokens


class KeepsTheFirst(Packed):
    def restart(self, documents: Tensor) -> Tensor:
        return ((documents == 1).long().cumsum(1) - 1).clamp(min=0)


def faulty(_: Path) -> Any:
    return tokens(KeepsTheFirst())


def healthy(_: Path) -> Any:
    return tokens(Packed())


ITEM = Fault(
    source="hiyouga/LLaMA-Factory#7754",
    check="PE405",
    where="the forward",
    right=r"tokens packed by document_ids differ .* restart positions .* 0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 5, 6",
    build=faulty,
    healthy=healthy,
)
