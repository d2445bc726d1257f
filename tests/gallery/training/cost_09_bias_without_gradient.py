"""A learned bias on the attention logits stays at its first values.

Cause: the fused attention that takes the bias has no backward pass for what it captures, and says so only when asked.
"""

from pathlib import Path

import torch

from tests.gallery.item import Fault
from tests.helpers.gallery_training import BiasedByHeart, Flex


def faulty(folder: Path) -> BiasedByHeart:
    return BiasedByHeart(lambda bias: Flex.apply(torch.zeros_like(bias), bias))


def healthy(folder: Path) -> BiasedByHeart:
    return BiasedByHeart()


ITEM = Fault(
    source="meta-pytorch/attention-gym#20, meta-pytorch/attention-gym#69, pytorch/pytorch#145208",
    check="PE503",
    where="the backward pass",
    right="a dense bias as attn_mask",
    build=faulty,
    healthy=healthy,
)
