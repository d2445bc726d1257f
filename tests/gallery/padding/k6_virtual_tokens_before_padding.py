"""A learned prompt in front of left padding, mask 1..1 0..0 1..1: positions of real tokens depend on the padding."""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from tests.gallery.item import Fault
from tests.helpers.toys import llama


class Prompted(nn.Module):
    """A Llama behind four virtual tokens."""

    def __init__(self, *, counts_tokens: bool) -> None:
        super().__init__()
        self.inner, self.counts_tokens = llama(), counts_tokens
        self.prompt = nn.Parameter(torch.randn(4, 32, generator=torch.Generator().manual_seed(0)))

    def forward(self, input_ids: Tensor, attention_mask: Tensor | None = None) -> Tensor:
        batch, virtual = len(input_ids), len(self.prompt)
        mask = torch.ones_like(input_ids) if attention_mask is None else attention_mask
        mask = torch.cat((mask.new_ones(batch, virtual), mask), dim=1)
        words = self.inner.model.embed_tokens(input_ids)
        joined = torch.cat((self.prompt.expand(batch, -1, -1), words), dim=1)
        ids = (mask.cumsum(1) - 1).clamp(min=0) if self.counts_tokens else None
        logits: Tensor = self.inner(inputs_embeds=joined, attention_mask=mask, position_ids=ids).logits
        return logits[:, virtual:]


def faulty(_: Path) -> Any:
    return Prompted(counts_tokens=False).eval()


def healthy(_: Path) -> Any:
    return Prompted(counts_tokens=True).eval()


ITEM = Fault(
    source="huggingface/peft#54",
    check="PE401",
    where="the forward",
    right=r"left padding changes outputs .* derive position ids from the mask",
    build=faulty,
    healthy=healthy,
)
