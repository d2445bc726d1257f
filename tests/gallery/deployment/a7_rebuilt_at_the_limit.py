"""The wanted length is computed one too large, so a sample of exactly the limit rebuilds the table, in bfloat16."""

from pathlib import Path

import torch
from torch import Tensor, nn

from tests.gallery.item import Fault
from tests.helpers.gallery_deployment import Turned, angles, frequencies

LIMIT = 256


class OneTooLarge(nn.Module):
    one = 1

    def __init__(self) -> None:
        super().__init__()
        cos, sin = angles(LIMIT)
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        wanted = x.shape[1] + self.one
        if wanted > LIMIT:
            places = torch.arange(wanted, dtype=x.dtype, device=x.device)
            phases = torch.outer(places, frequencies().to(x))
            return phases.cos()[:-1], phases.sin()[:-1]
        return self.get_buffer("cos")[: x.shape[1]], self.get_buffer("sin")[: x.shape[1]]


class Exact(OneTooLarge):
    one = 0


class Limited(Turned):
    def forward(self, input_ids: Tensor) -> Tensor:
        if input_ids.shape[1] > LIMIT:
            raise ValueError(f"the model takes {LIMIT} tokens")
        return super().forward(input_ids)


def faulty(folder: Path) -> nn.Module:
    return Limited(OneTooLarge())


def healthy(folder: Path) -> nn.Module:
    return Limited(Exact())


ITEM = Fault(
    source="huggingface/transformers#31228, huggingface/transformers#31500",
    check="PE601",
    where="layers.",
    right=r"at position 255, and by .* at length 255.*build tables in float32",
    build=faulty,
    healthy=healthy,
    severity="note",
)
