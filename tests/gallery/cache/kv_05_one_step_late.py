"""Decoding is one position late: what is called the past's length already counts the token of this call."""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from tests.gallery.item import Fault
from tests.helpers.gallery_decoding import Returning, tokens


class CountsItself(Returning):
    def places(self, tokens: Tensor, past: int) -> Tensor:
        already = past + tokens.shape[1] if past else 0
        return torch.arange(already, already + tokens.shape[1])[None]


def faulty(_: Path) -> Any:
    return tokens(CountsItself())


def healthy(_: Path) -> Any:
    return tokens(Returning())


ITEM = Fault(
    source="microsoft/onnxruntime-genai#2354",
    check="PE403",
    where="the cache",
    right=r"after 1 tokens it uses position 2, not position 1",
    build=faulty,
    healthy=healthy,
)
