"""A path that drops the padding before attention loses the positions: it has indices of the tokens, and no ids.

The tokens of all rows are joined, each layer attends within its row, and position ids that nobody made are counted over
the joined tokens instead of within each row.
"""

from pathlib import Path

import torch
from torch import Tensor, nn

from tests.gallery.item import Fault
from tests.helpers.toys import Toy


class Unpads(Toy):
    """With `use_flash` it joins the real tokens of all rows into one, and keeps the rows apart by a mask."""

    def __init__(self) -> None:
        super().__init__()
        self.use_flash = False

    def forward(self, tokens: Tensor, attention_mask: Tensor | None = None) -> Tensor:  # type: ignore[override]
        if not self.use_flash:
            return super().forward(tokens, attention_mask)
        real = (torch.ones(tokens.shape) if attention_mask is None else attention_mask).bool()
        row = torch.arange(len(tokens))[:, None].expand_as(tokens)[real]
        x = self.embed(tokens[real][None], self.joined_ids(real)[None])
        apart = torch.zeros(len(row), len(row)).masked_fill(row[:, None] != row, -torch.inf)
        for layer in self.layers:
            x = layer(x, apart[None, None])
        return torch.zeros(*tokens.shape, x.shape[-1]).masked_scatter(real[..., None], x)

    def joined_ids(self, real: Tensor) -> Tensor:
        return self.ids(real)[real]


class CountsOn(Unpads):
    def joined_ids(self, real: Tensor) -> Tensor:
        return torch.arange(int(real.sum()))


def faulty(folder: Path) -> nn.Module:
    return CountsOn()


def healthy(folder: Path) -> nn.Module:
    return Unpads()


ITEM = Fault(
    source="huggingface/transformers#41789",
    check="PE320",
    where="use_flash turned round",
    right="differs by .* from the model's own path",
    build=faulty,
    healthy=healthy,
)
