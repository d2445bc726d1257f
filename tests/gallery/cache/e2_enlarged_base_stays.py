"""After one long prompt, short prompts score differently: dynamic scaling enlarges the base and never restores it."""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from tests.gallery.item import Fault
from tests.helpers.toys import llama

ORIGINAL, FACTOR = 64, 2.0


class Dynamic(nn.Module):
    """Rotary embedding with dynamic NTK: beyond ORIGINAL positions the base grows with the length."""

    def __init__(self, head_dim: int, *, restores: bool) -> None:
        super().__init__()
        self.head_dim, self.restores = head_dim, restores
        self.register_buffer("inv_freq", self.frequencies(1.0), persistent=False)

    def frequencies(self, growth: float) -> Tensor:
        base = 10_000.0 * growth ** (self.head_dim / (self.head_dim - 2))
        return torch.tensor(base).pow(-torch.arange(0, self.head_dim, 2) / self.head_dim)

    def forward(self, x: Tensor, position_ids: Tensor) -> tuple[Tensor, Tensor]:
        length = int(position_ids.max()) + 1
        if length > ORIGINAL:
            self.inv_freq = self.frequencies(FACTOR * length / ORIGINAL - (FACTOR - 1))
        elif self.restores:
            self.inv_freq = self.frequencies(1.0)
        angles = position_ids[..., None].float() * self.inv_freq
        both = torch.cat((angles, angles), dim=-1)
        return both.cos(), both.sin()


def model(*, restores: bool) -> Any:
    target = llama(max_position_embeddings=ORIGINAL)
    target.model.rotary_emb = Dynamic(8, restores=restores)
    return target


def faulty(_: Path) -> Any:
    return model(restores=False)


def healthy(_: Path) -> Any:
    return model(restores=True)


ITEM = Fault(
    source="huggingface/transformers#25308, huggingface/transformers#27227",
    check="PE404",
    where="the forward",
    right=r"after a longer sequence, .* of a short sequence differs .* recompute positions and frequencies",
    build=faulty,
    healthy=healthy,
)
