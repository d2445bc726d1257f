"""A table that repeats itself after half of its width looks wrong beside the paper's, and is right for halves."""

from pathlib import Path

import torch
from torch import Tensor, nn

from tests.gallery.item import LookAlike
from tests.helpers.pairwise_llama import Trained


def build(_: Path) -> tuple[nn.Module, tuple[Tensor]]:
    return Trained(interleaved=False), (torch.arange(12).repeat(2, 1),)


ITEM = LookAlike(
    source="facebookresearch/xformers#779, EleutherAI/gpt-neox#834", build=build, passes=("PE312", "PE307", "PE602")
)
