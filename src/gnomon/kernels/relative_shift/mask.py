"""What a block of queries adds to its logits, the relative shift among it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import final

import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.kernels.relative_shift.shift import Block, Shift

#: Which of these keys these queries see: (rows, keys) -> (B or 1, 1, rows, keys), True where they do.
Visible = Callable[[slice, slice], Tensor]


@final
@dataclass(frozen=True, eq=False)
class Plan:
    """What is asked for, apart from tensors."""

    shift: Shift
    scale: float
    visible: Visible | None
    added: Callable[..., Tensor] | None


@final
class Mask:
    """What is added to the logits of a block, -inf where keys are hidden, and the rows that see none."""

    def __init__(
        self, plan: Plan, batch: int, asked: Tensor, vectors: Tensor, by_key: Tensor | None, more: Sequence[Tensor]
    ) -> None:
        self.plan, self.batch, self.more = plan, batch, more
        self.asked, self.vectors, self.by_key = asked, vectors, by_key
        widest = max(sum(block.size) * block.size[0] for block in plan.shift.blocks())
        self.room = vectors.new_empty(asked.shape[0] * asked.shape[1] * widest)

    def of(self, block: Block) -> tuple[Tensor, Tensor | None]:
        """The mask, which the next call writes over."""
        bias = block.shifted(self._scores(block), self.batch)
        if self.by_key is not None:
            bias += self.by_key[:, :, None, block.keys]
        if self.plan.added is not None:
            bias += self.plan.added(block.rows, block.keys, *self.more)
        if self.plan.visible is None:
            for columns in block.edges():
                bias[..., columns].masked_fill_(block.hidden(bias.device, columns), -torch.inf)
            return bias, None
        seen = self.plan.visible(block.rows, block.keys) & ~block.hidden(bias.device)
        # A softmax over nothing is NaN: let those rows see all, and drop what they saw.
        blind = ~seen.any(-1, keepdim=True)
        return bias.masked_fill_(~(seen | blind), -torch.inf), blind

    def _scores(self, block: Block) -> Float[Tensor, "groups rows Q N"]:
        groups, rows, _, _ = self.asked.shape
        queries, _ = block.size
        width = block.span.stop - block.span.start
        scores = self.room[: groups * rows * queries * width].view(groups, rows * queries, width)
        asked = self.asked[:, :, block.rows].reshape(groups, rows * queries, -1)
        torch.bmm(asked, self.vectors[:, block.span].mT, out=scores)
        return scores.view(groups, rows, queries, width)
