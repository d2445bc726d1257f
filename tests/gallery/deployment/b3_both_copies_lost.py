"""Qwen keeps frequencies twice, to go back to the originals. After materialising, both are lost."""

from pathlib import Path

import torch

from tests.gallery.item import Fault
from tests.helpers.toys import llama


def faulty(folder: Path) -> torch.nn.Module:
    model: torch.nn.Module = llama()
    for name, buffer in model.named_buffers():
        if "inv_freq" in name:
            buffer.fill_(torch.nan)
    return model


def healthy(folder: Path) -> torch.nn.Module:
    model: torch.nn.Module = llama()
    return model


ITEM = Fault(
    source="huggingface/transformers#45902",
    check="PE604",
    where="original_inv_freq",
    right=r"holds nan, .*a fresh build of the class holds 1, 0\.1, 0\.01, 0\.001.*copy original_inv_freq",
    build=faulty,
    healthy=healthy,
)
