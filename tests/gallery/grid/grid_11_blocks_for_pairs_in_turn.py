"""A vision model loops forever, text is fine: pairs of time, height and width are dealt out in blocks, not in turn.

Each family has its own order: sections 2, 1, 1 over four pairs are 0 1 2 0 in turn and 0 0 1 2 in blocks. With text
the three coordinates are equal, and nothing shows.
"""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from tests.gallery.item import Fault
from tests.helpers.tiny_transformers import tiny_model


def in_blocks(freq: Tensor) -> Tensor:
    """(3, B, S, pairs) -> (B, S, 2 pairs): the first pairs by time, then by height, then by width."""
    found = torch.cat([part[axis] for axis, part in enumerate(freq.split((2, 1, 1), dim=-1))], dim=-1)
    return torch.cat((found, found), dim=-1)


def faulty(folder: Path) -> Any:
    model = healthy(folder)
    model.rotary_emb.recomposition_frequencies = in_blocks
    return model


def healthy(folder: Path) -> Any:
    return tiny_model("qwen3_vl_text")


ITEM = Fault(
    source="alibaba/MNN#4133, Blaizzy/mlx-vlm#576",
    check="PE319",
    where="layers.*.self_attn",
    right=r"pair 1 turns with time; sections \[2, 1, 1\], interleaved, give it to height.*pairs by axis: 0 1 2 0",
    build=faulty,
    healthy=healthy,
)
