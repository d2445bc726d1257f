"""The order in which XLNet predicts tokens, and who may see whom in that order.

Yang et al. 2019, arXiv:1906.08237, section 2.2; which tokens an order holds back follows `_local_perm` of the authors'
data pipeline.
"""

import torch
from jaxtyping import Bool, Int, Int64
from torch import Tensor

from gnomon.errors import GnomonError, ShapeError


def factorization_order(
    batch: int, length: int, *, generator: torch.Generator, block: int | None = None
) -> Int64[Tensor, "B S"]:
    """The place of each token in a random order, a new one for each row: (B, S), on the generator's device.

    With `block` the order is random within runs of so many tokens only, and the runs follow one another, so that no
    token waits for one of a later run; the last run may be shorter. Models with memory need a block no longer than what
    a segment hands on, or the memory knows tokens that are still to be predicted.

    >>> factorization_order(2, 5, generator=torch.Generator().manual_seed(0), block=3)
    tensor([[2, 1, 0, 4, 3],
            [2, 0, 1, 4, 3]])
    """
    if min(batch, length) < 1 or (block is not None and block < 1):
        raise GnomonError(f"A batch, a length and a block are at least 1, got {batch}, {length} and {block}.")
    key = torch.rand(batch, length, dtype=torch.float64, generator=generator, device=generator.device)
    if block is not None:
        key = key + torch.arange(length, device=key.device) // block
    return key.argsort(dim=-1).argsort(dim=-1)


def permutation_mask(
    targets: Bool[Tensor, "B S"],
    *,
    order: Int[Tensor, "B S"] | None = None,
    generator: torch.Generator | None = None,
    functional: Bool[Tensor, "B S"] | None = None,
) -> Bool[Tensor, "B S S"]:
    """True where token i must not see token j, (B, i, j): the perm_mask of an XLNet. One row may differ from the next.

    `order` is the place of each token in the order of prediction; without it one is drawn from `generator` for each
    row. Targets are predicted: they see the tokens before them in the order, and not themselves. Functional tokens
    ([CLS], [SEP]) are read in the same order, and see themselves. All others are context: every token sees them, and
    they see no target. Padding is not for this mask to hide.

    >>> targets = torch.tensor([[False, True, True]])
    >>> permutation_mask(targets, order=torch.tensor([[0, 2, 1]])).int()
    tensor([[[0, 1, 1],
             [0, 1, 0],
             [0, 1, 1]]], dtype=torch.int32)
    """
    if functional is None:
        functional = torch.zeros_like(targets)
    if functional.shape != targets.shape:
        raise ShapeError(
            f"Functional tokens have shape {tuple(functional.shape)}, targets {tuple(targets.shape)}; both need one "
            f"value for each token, (batch, sequence)."
        )
    if order is None:
        order = _drawn(targets, generator)
    _require_order(order, targets)
    held_back = targets | functional
    place = torch.where(held_back, order, -1)
    reads_from = torch.where(targets, place, place + 1)
    return (reads_from[:, :, None] <= place[:, None, :]) & held_back[:, None, :]


def _require_order(order: Tensor, targets: Bool[Tensor, "B S"]) -> None:
    """A negative place would let context see a target, and two tokens at one place would hide each other."""
    if order.shape != targets.shape:
        raise ShapeError(
            f"The order has shape {tuple(order.shape)}, the targets {tuple(targets.shape)}; give one each."
        )
    if order.dtype != torch.int64 or bool((order < 0).any()) or bool((order.sort(-1).values.diff() == 0).any()):
        raise GnomonError(
            f"An order gives each token of a row a place of its own, 0 or more, as int64; got {order.tolist()} in "
            f"{order.dtype}."
        )


def _drawn(targets: Bool[Tensor, "B S"], generator: torch.Generator | None) -> Int64[Tensor, "B S"]:
    if generator is None:
        raise GnomonError("A permutation mask needs an order or a torch.Generator to draw one from, got neither.")
    batch, length = targets.shape
    return factorization_order(batch, length, generator=generator).to(targets.device)
