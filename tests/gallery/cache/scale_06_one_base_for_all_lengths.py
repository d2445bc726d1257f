"""Dynamic scaling differs on short prompts: the base is computed once, for the longest length, and always used."""

from pathlib import Path
from typing import Any

from tests.gallery.item import Fault
from tests.helpers.gallery_scaling import DynamicRotary, dynamic_llama


class Once(DynamicRotary):
    def growth(self, length: int) -> float:
        return super().growth(2 * self.original)


def faulty(_: Path) -> Any:
    return dynamic_llama(Once)


def healthy(_: Path) -> Any:
    return dynamic_llama(DynamicRotary)


ITEM = Fault(
    source="vllm-project/vllm#5093, vllm-project/vllm#3488",
    check="PE413",
    where="layers.*.attention",
    right=r"a text of 64 tokens .* those of a text of 128 tokens .* the original frequencies up to 64",
    build=faulty,
    healthy=healthy,
)
