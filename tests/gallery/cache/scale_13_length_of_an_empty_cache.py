"""A long prompt uses the short factors: the length is taken from the cache, which is empty at the first call."""

from pathlib import Path
from typing import Any

from torch import Tensor

from tests.gallery.item import Fault
from tests.helpers.gallery_scaling import DynamicRotary, dynamic_llama


class AsksTheCache(DynamicRotary):
    def length(self, position_ids: Tensor) -> int:
        return 0  # what a cache holds at the first call


def faulty(_: Path) -> Any:
    return dynamic_llama(AsksTheCache)


def healthy(_: Path) -> Any:
    return dynamic_llama(DynamicRotary)


ITEM = Fault(
    source="EricLBuehler/mistral.rs#251, ggml-org/llama.cpp#6849",
    check="PE413",
    where="layers.*.attention",
    right=r"a text of 128 tokens .* those of a text of 64 tokens .* the scaled frequencies beyond 64",
    build=faulty,
    healthy=healthy,
)
