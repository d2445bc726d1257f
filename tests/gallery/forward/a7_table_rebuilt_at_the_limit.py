"""Outputs break when a text is exactly as long as the stated length; one token less is fine.

The length that is asked of the kept table is one too large, so at the limit it is built again, in low precision.
"""

from pathlib import Path
from typing import Any

from torch import Tensor, nn

from tests.gallery.item import Fault
from tests.helpers.toys import llama

STATED = 32


class Kept(nn.Module):
    """Angles of a Llama from a table that is built anew when more rows are asked for: one more than needed."""

    def __init__(self, own: Any) -> None:
        super().__init__()
        self.own = own

    def forward(self, x: Tensor, position_ids: Tensor) -> tuple[Tensor, Tensor]:
        rebuilt = position_ids.shape[-1] + 1 > STATED
        cos, sin = self.own(x, position_ids)
        return (cos.bfloat16().to(x), sin.bfloat16().to(x)) if rebuilt else (cos, sin)


def faulty(folder: Path) -> Any:
    model = healthy(folder)
    model.model.rotary_emb = Kept(model.model.rotary_emb)
    return model.eval()


def healthy(folder: Path) -> Any:
    return llama(max_position_embeddings=STATED)


ITEM = Fault(
    source="huggingface/transformers#31228",
    check="PE325",
    where="the forward",
    right="first 31 tokens change.*grows to 32.*do not rebuild the table at the limit",
    build=faulty,
    healthy=healthy,
)
