"""Attention with a bias that depends on the distance alone, without a matrix of biases in either direction.

Such a bias is a Toeplitz matrix: one number for each distance. With the queries in reverse order it is constant along
the other diagonals, a Hankel matrix, and that is a view of its numbers in which row and column both step by one number:
`scaled_dot_product_attention` reads it as a mask of any size. Queries are taken in blocks, each with the keys that it
reaches, so a causal mask or a window costs what it shows. Hidden distances stand as -inf beside the numbers.
"""

from collections.abc import Iterator
from typing import Any, final

import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn.functional import scaled_dot_product_attention

from gnomon.errors import ShapeError
from gnomon.kernels.band import Band, Block, Reach, distances
from gnomon.kernels.precision import full_precision, narrow

#: Most queries of one block, forward. Larger blocks compute more of what a causal mask hides, smaller ones call more.
ROWS = 256
#: The same for the backward pass, which keeps a few matrices of logits.
ROWS_BACK = 64
#: How many logits the backward pass holds at a time, in as many heads as that is: 2 MiB in float32, to stay in cache.
LOGITS = 1 << 19


def toeplitz_attention(
    q: Float[Tensor, "B H Q D"],
    k: Float[Tensor, "B G K D"],
    v: Float[Tensor, "B G K D"],
    numbers: Float[Tensor, "#H N"],
    *,
    offset: int,
    scale: float,
    reach: Reach = (None, None),
) -> Float[Tensor, "B H Q D"]:
    """softmax(q kᵀ scale + numbers[h, distance]) v over the keys within reach. (B, H, Q, D), (B, G, K, D) -> as q.

    `numbers` has one for each of `distances(Q, K, offset=offset, reach=reach)`, in that order, for each head, or one
    row for all heads. H is a multiple of G; key heads are shared, not copied. Distance 0 is within reach. Extra memory
    grows with Q + K. Gradients reach q, k, v and the numbers with no more memory, computed in float32, or float64 where
    q is; they have no gradients themselves. Raises ShapeError where the sizes do not fit.

    >>> q = k = v = torch.randn(1, 2, 4, 8)
    >>> steps = torch.tensor(distances(4, 4, offset=0, reach=(None, 0)))
    >>> toeplitz_attention(q, k, v, 0.5 * steps[None], offset=0, scale=1.0, reach=(None, 0)).shape
    torch.Size([1, 2, 4, 8])
    """
    steps = distances(q.shape[2], k.shape[2], offset=offset, reach=reach)
    if numbers.shape[1] != len(steps) or numbers.shape[0] not in (1, q.shape[1]) or 0 not in steps:
        raise ShapeError(
            f"Attention by distance needs a number for each of the distances {steps.start} to {steps.stop - 1}, 0 "
            f"among them, in 1 or {q.shape[1]} rows, got numbers of shape {tuple(numbers.shape)}."
        )
    out: Tensor = _ByDistance.apply(q, k, v, numbers, Band(steps, offset, q.shape[2], k.shape[2]), scale)  # type: ignore[no-untyped-call]
    return out


@final
class _ByDistance(torch.autograd.Function):
    """Keeps q, k, v, the numbers and the output, as attention does that keeps no weights."""

    @staticmethod
    def forward(ctx: Any, q: Tensor, k: Tensor, v: Tensor, numbers: Tensor, band: Band, scale: float) -> Tensor:
        rows = min(ROWS, max(ROWS // 4, len(band.steps)))  # a narrow window takes narrow blocks
        padded = band.padded(numbers, rows, torch.promote_types(q.dtype, torch.float32))
        out, shared = torch.empty_like(q), q.shape[1] != k.shape[1]
        for block in band.blocks(rows):
            keys, mask = block.keys, block.mask(padded, padded.dtype)
            mask = mask if q.device.type == "cpu" else narrow(mask, q.dtype)
            with full_precision(q.device):  # autocast would make a matrix of the mask, in half precision
                part = scaled_dot_product_attention(
                    block.reversed(q), k[:, :, keys], v[:, :, keys], mask, scale=scale, enable_gqa=shared
                )
            out[:, :, block.start : block.end] = part.flip(2)
        ctx.save_for_backward(q, k, v, numbers, out)
        ctx.band, ctx.scale = band, scale
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        q, k, v, numbers, out = ctx.saved_tensors
        dq, dk, dv, d_numbers = (torch.empty_like(q), *(torch.zeros_like(x) for x in (k, v, numbers)))
        for rows, key_heads, heads in _parts(ctx.band, q, k):
            own = slice(None) if len(numbers) == 1 else heads
            part = _Backward(q[rows, heads], k[rows, key_heads], v[rows, key_heads], ctx.scale)
            of_queries = (x[rows, heads] for x in (grad, out, dq))
            with full_precision(q.device):
                sums = part.run(ctx.band, numbers[own], *of_queries, by_distance=ctx.needs_input_grad[3])
            dk[rows, key_heads], dv[rows, key_heads] = part.dk, part.dv
            if sums is not None:
                d_numbers[own] += sums
        return dq, dk, dv, d_numbers if ctx.needs_input_grad[3] else None, None, None


def _parts(band: Band, q: Tensor, k: Tensor) -> Iterator[tuple[slice, slice, slice]]:
    """Rows of the batch, key heads and their query heads that have about LOGITS logits in a block of ROWS_BACK."""
    (B, H), G = q.shape[:2], k.shape[1]
    room = LOGITS // (ROWS_BACK * band.widest(ROWS_BACK))
    rows, shared = max(1, room // H), H // G
    each = G if rows > 1 else min(G, max(1, room // shared))
    for row in range(0, B, rows):
        for head in range(0, G, each):
            yield slice(row, row + rows), slice(head, head + each), slice(head * shared, (head + each) * shared)


@final
class _Backward:
    """Gradients of some rows and heads, block by block: dS = P (dP - (grad · out)), with P computed anew."""

    def __init__(self, q: Tensor, k: Tensor, v: Tensor, scale: float) -> None:
        self.dtype = torch.promote_types(q.dtype, torch.float32)
        self.q, self.scale = q, scale
        self.k, self.v = (x.to(self.dtype).contiguous() for x in (k, v))
        self.dk, self.dv = torch.zeros_like(self.k), torch.zeros_like(self.v)

    def run(
        self, band: Band, numbers: Tensor, grad: Tensor, out: Tensor, dq: Tensor, *, by_distance: bool
    ) -> Float[Tensor, "h N"] | None:
        """Fill dk, dv and the dq that is given; returns dS summed by distance if asked."""
        rows = min(max(LOGITS // (len(self.q) * self.q.shape[1] * band.widest(ROWS_BACK)), 16), ROWS_BACK)
        padded = band.padded(numbers, rows, self.dtype)
        d_padded = torch.zeros_like(padded)
        for block in band.blocks(rows):
            q, *told = (self._folded(block, x) for x in (self.q, grad, out))
            q = q * self.scale
            weights, d_weights = self._weights(block, q, block.mask(padded, self.dtype), *told)
            sheared, d_logits = self._sheared(block, weights) if by_distance else (None, d_weights)
            torch.mul(weights, d_weights, out=d_logits)
            self.dk[:, :, block.keys] += d_logits.mT @ q
            of_q = (d_logits @ self.k[:, :, block.keys]).mul_(self.scale)
            dq[:, :, block.start : block.end] = of_q.view(len(q), -1, block.rows, q.shape[-1]).flip(2)
            if sheared is not None:
                sums = sheared.sum((0, 2))
                d_padded[:, block.numbers_at] += sums.sum(0) if len(padded) == 1 else sums
        return d_padded[:, rows - 1 : d_padded.shape[1] - rows + 1].to(numbers.dtype) if by_distance else None

    def _weights(
        self, block: Block, q: Tensor, mask: Float[Tensor, "1 h r C"], grad: Tensor, out: Tensor
    ) -> tuple[Float[Tensor, "b G R C"], Float[Tensor, "b G R C"]]:
        """P and what it is multiplied by in dS; adds to dv. `q` is scaled."""
        k, v = self.k[:, :, block.keys], self.v[:, :, block.keys]
        logits = q @ k.mT
        logits.view(len(q), -1, *mask.shape[2:]).add_(mask)
        weights = logits.softmax(-1)
        self.dv[:, :, block.keys] += weights.mT @ grad
        return weights, (grad @ v.mT).sub_((grad * out).sum(-1, keepdim=True))

    def _folded(self, block: Block, x: Float[Tensor, "b H Q D"]) -> Float[Tensor, "b G R D"]:
        """The reversed rows of the heads that share a key head, one head after the other."""
        return block.reversed(x).to(self.dtype).reshape(len(x), self.k.shape[1], -1, x.shape[-1])

    def _sheared(
        self, block: Block, like: Float[Tensor, "b G R C"]
    ) -> tuple[Float[Tensor, "b H r W"], Float[Tensor, "b G R C"]]:
        """Zeros in which each row lies one further right than the row above, and a view of them without the shift."""
        B, G, R, C = like.shape
        H, rows, width = self.q.shape[1], block.rows, block.width
        flat = like.new_zeros(B, H, rows * (width + 1))
        straight = flat.as_strided((B, G, R, C), (flat.stride(0), R * (width + 1), width + 1, 1))
        return flat[..., : rows * width].unflatten(-1, (rows, width)), straight
