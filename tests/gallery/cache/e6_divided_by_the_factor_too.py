"""Dynamic scaling makes short and long inputs worse: besides the larger base there is a division by the factor."""

from pathlib import Path
from typing import Any

from torch import Tensor

from tests.gallery.item import Fault
from tests.helpers.gallery_scaling import DynamicRotary, dynamic_llama


class DividesToo(DynamicRotary):
    def frequencies(self, length: int) -> Tensor:
        return super().frequencies(length) / self.factor


def faulty(_: Path) -> Any:
    return dynamic_llama(DividesToo)


def healthy(_: Path) -> Any:
    return dynamic_llama(DynamicRotary)


ITEM = Fault(
    source="huggingface/text-generation-inference#816",
    check="PE413",
    where="layers.*.attention",
    right=r"a text of 64 tokens is not rotated .* the original frequencies up to 64",
    build=faulty,
    healthy=healthy,
)
