"""The backward pass: each block's logits are made anew, so that none are kept."""

from collections.abc import Sequence
from typing import final

import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.kernels.relative_shift.mask import Mask, Plan
from gnomon.kernels.relative_shift.shift import Block


@final
class Slopes:
    """The gradients of all inputs, filled block by block, in float32 or better."""

    def __init__(
        self,
        plan: Plan,
        content: tuple[Tensor, Tensor, Tensor],
        relative: tuple[Tensor, Tensor, Tensor | None],
        more: Sequence[Tensor],
    ) -> None:
        self.plan, self.dtypes = plan, [x.dtype for x in content]
        self.asked, self.vectors, by_key = relative
        self.q, self.k, self.v = (x.to(self.vectors.dtype).contiguous() for x in content)
        self.more = [x.detach().requires_grad_(x.is_floating_point()) for x in more]
        self.mask = Mask(plan, len(self.q), self.asked, self.vectors, by_key, more)
        self.of_q, self.of_k, self.of_v = (torch.zeros_like(x) for x in (self.q, self.k, self.v))
        self.of_asked, self.of_vectors = (torch.zeros_like(x) for x in (self.asked, self.vectors))
        self.of_by_key = None if by_key is None else torch.zeros_like(by_key)
        self.of_more = [torch.zeros_like(x) if x.requires_grad else None for x in self.more]

    def add(self, block: Block, grad: Float[Tensor, "B H Q V"]) -> None:
        """What the queries of one block give to all gradients."""
        q, k, v = self.q[:, :, block.rows], self.k[:, :, block.keys], self.v[:, :, block.keys]
        bias, blind = self.mask.of(block)
        weights = torch.softmax((self.plan.scale * q) @ k.mT + bias, dim=-1)
        grad = grad.to(weights.dtype)
        if blind is not None:
            grad = grad.masked_fill(blind, 0.0)
        self.of_v[:, :, block.keys] += weights.mT @ grad
        slope = grad @ v.mT
        slope -= (slope * weights).sum(-1, keepdim=True)
        slope *= weights
        self.of_q[:, :, block.rows] = self.plan.scale * (slope @ k)
        self.of_k[:, :, block.keys] += self.plan.scale * (slope.mT @ q)
        if self.of_by_key is not None:
            self.of_by_key[:, :, block.keys] += slope.sum(-2)
        self._add_relative(block, slope)
        self._add_more(block, slope)

    def _add_relative(self, block: Block, slope: Float[Tensor, "B H Q K"]) -> None:
        groups, rows, _, width = self.asked.shape
        queries, _ = block.size
        by_distance = slope.new_zeros(groups, rows, queries, block.span.stop - block.span.start)
        block.shifted(by_distance, len(slope)).copy_(slope)
        flat = by_distance.view(groups, rows * queries, -1)
        asked = self.asked[:, :, block.rows].reshape(groups, rows * queries, width)
        self.of_asked[:, :, block.rows] = (flat @ self.vectors[:, block.span]).view(groups, rows, queries, width)
        self.of_vectors[:, block.span] += flat.mT @ asked

    def _add_more(self, block: Block, slope: Float[Tensor, "B H Q K"]) -> None:
        wanted = [x for x in self.more if x.requires_grad]
        if self.plan.added is None or not wanted:
            return
        with torch.enable_grad():
            bias = self.plan.added(block.rows, block.keys, *self.more).expand(slope.shape)
        found = iter(torch.autograd.grad(bias, wanted, slope.to(bias.dtype), allow_unused=True))
        for total in self.of_more:
            part = None if total is None else next(found)
            if total is not None and part is not None:
                total += part

    def of_inputs(self) -> tuple[Tensor | None, ...]:
        """In the order of the inputs, in the dtypes of queries, keys and values."""
        pairs = zip((self.of_q, self.of_k, self.of_v), self.dtypes, strict=True)
        content = [slope.to(dtype) for slope, dtype in pairs]
        return (*content, self.of_asked, self.of_vectors, self.of_by_key, *self.of_more)
