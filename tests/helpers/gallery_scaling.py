"""A tiny Llama with dynamic scaling of its own."""

from typing import Any

import torch
from torch import Tensor, nn

from tests.helpers.gallery_decoding import HEAD_DIM
from tests.helpers.toys import llama


class DynamicRotary(nn.Module):
    """A Llama's rotary embedding with dynamic scaling: beyond `original` tokens the base grows with the length."""

    original, factor = 64, 2.0

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("inv_freq", self.frequencies(1), persistent=False)

    def growth(self, length: int) -> float:
        """What the base is multiplied with, before its exponent."""
        return self.factor * max(length, self.original) / self.original - (self.factor - 1)

    def frequencies(self, length: int) -> Tensor:
        base = 10_000.0 * self.growth(length) ** (HEAD_DIM / (HEAD_DIM - 2))
        return torch.tensor(base).pow(-torch.arange(0, HEAD_DIM, 2) / HEAD_DIM)

    def length(self, position_ids: Tensor) -> int:
        return int(position_ids.max()) + 1

    def forward(self, x: Tensor, position_ids: Tensor) -> tuple[Tensor, Tensor]:
        angles = position_ids[..., None].float() * self.frequencies(self.length(position_ids)).to(x.device)
        both = torch.cat((angles, angles), dim=-1)
        return both.cos(), both.sin()


def dynamic_llama(kind: type[DynamicRotary]) -> Any:
    """A tiny Llama whose config says dynamic scaling by 2 beyond 64 tokens, with this rotary embedding."""
    rope = {"rope_type": "dynamic", "rope_theta": 10_000.0, "factor": kind.factor}
    model = llama(max_position_embeddings=kind.original, rope_parameters=rope)
    model.model.rotary_emb = kind()
    return model
