"""The rows of a causal bias look constant, or off by a number each: the softmax does not see it."""

from pathlib import Path

import torch
from torch import Tensor, nn

from tests.gallery.item import LookAlike
from tests.helpers.gallery_forms import Sloped, alibi


class Shortcut(Sloped):
    """slope * key position: -slope * distance and a constant in each row."""

    def distance(self, length: int) -> Tensor:
        return -torch.arange(length).expand(length, length)


def build(folder: Path) -> nn.Module:
    return Shortcut()


ITEM = LookAlike(
    source="mosaicml/llm-foundry#186, vllm-project/vllm#945",
    build=build,
    passes=("PE308", "PE311", "PE315"),
    evidence={"claims": (alibi(4),)},
)
