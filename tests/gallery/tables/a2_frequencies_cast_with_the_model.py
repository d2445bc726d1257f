"""One model has other outputs after `.to(bfloat16)` than loaded in bfloat16: its frequencies were cast too."""

from pathlib import Path
from typing import Any

import torch
from torch import nn

from tests.gallery.item import Fault
from tests.helpers.toys import llama


def faulty(_: Path) -> nn.Module:
    model: nn.Module = llama().to(torch.bfloat16)
    return model


def healthy(_: Path) -> nn.Module:
    model: Any = llama().to(torch.bfloat16)
    rotary = model.model.rotary_emb
    rotary.inv_freq = 10_000.0 ** (-torch.arange(0, 8, 2) / 8)
    module: nn.Module = model
    return module


ITEM = Fault(
    source="huggingface/transformers#25681, huggingface/transformers#30709",
    check="PE209",
    where="rotary_emb.inv_freq",
    right=r"frequencies are bfloat16: angles are off by up to .* rad at position 4096.*float32",
    build=faulty,
    healthy=healthy,
)
