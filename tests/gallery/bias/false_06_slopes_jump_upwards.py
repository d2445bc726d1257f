"""Slopes jump upwards in the middle for 12 heads: the published rule for numbers that are no power of two."""

from pathlib import Path

from torch import nn

from tests.gallery.item import LookAlike
from tests.helpers.gallery_forms import Sloped, alibi


class Twelve(Sloped):
    heads = 12


def build(folder: Path) -> nn.Module:
    return Twelve()


ITEM = LookAlike(
    source="ofirpress/attention_with_linear_biases#17, NVIDIA/TensorRT-LLM#1611",
    build=build,
    passes=("PE308",),
    evidence={"claims": (alibi(12),)},
)
