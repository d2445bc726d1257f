"""Losses part from a reference run, the more the longer the text: angles are formed inside a bfloat16 region.

A rotary model must give the same logits when every position id moves by the same amount; rounded angles do not.
"""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from tests.gallery.item import Fault
from tests.helpers.toys import llama


class Rounded(nn.Module):
    def __init__(self, own: Any) -> None:
        super().__init__()
        self.register_buffer("inv_freq", own.inv_freq, persistent=False)

    def forward(self, x: Tensor, position_ids: Tensor) -> tuple[Tensor, Tensor]:
        angles = position_ids[..., None].bfloat16() * self.inv_freq.bfloat16()  # type: ignore[operator,union-attr]
        angles = torch.cat((angles, angles), dim=-1)
        return angles.cos().to(x), angles.sin().to(x)


def faulty(folder: Path) -> Any:
    model = llama()
    model.model.rotary_emb = Rounded(model.model.rotary_emb)
    return model


def healthy(folder: Path) -> Any:
    return llama()


ITEM = Fault(
    source="huggingface/transformers#29285",
    check="PE303",
    where="position_ids",
    right="shifting every position id by .*but rotary is relative.*compute angles in float32",
    build=faulty,
    healthy=healthy,
)
