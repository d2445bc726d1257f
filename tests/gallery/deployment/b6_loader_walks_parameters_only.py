"""A partitioned load (ZeRO-3) walks parameters only: buffers keep what the empty build had."""

from pathlib import Path

import torch
from torch import nn

from tests.gallery.item import Fault
from tests.helpers.tiny_transformers import tiny_model


def faulty(folder: Path) -> nn.Module:
    source = tiny_model("gptj", rotary_dim=8)
    target = tiny_model("gptj", rotary_dim=8).to_empty(device="cpu")
    with torch.no_grad():
        for buffer in target.buffers():
            buffer.zero_()
        for there, here in zip(target.parameters(), source.parameters(), strict=True):
            there.copy_(here)
    return target


def healthy(folder: Path) -> nn.Module:
    return tiny_model("gptj", rotary_dim=8)


ITEM = Fault(
    source="huggingface/transformers#45402",
    check="PE604",
    where="embed_positions",
    right=r"holds 0, 0, 0, 0.*parameters were loaded, buffers were not",
    build=faulty,
    healthy=healthy,
)
