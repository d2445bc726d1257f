"""Positions of padded rows: the number of real tokens before each."""

import torch
from jaxtyping import Bool, Int64, Shaped
from torch import Tensor

from gnomon.errors import PositionError
from gnomon.positions.checking import last, require_tokens


def from_mask(attention_mask: Shaped[Tensor, "B S"]) -> Int64[Tensor, "B S"]:
    """The number of real tokens before each token; padding gets 0. (B, S) -> (B, S).

    1 or True marks a real token and 0 or False padding, on the left, on the right or on both sides, in any of the usual
    dtypes. Raises PositionError for other values, for a mask that is not (B, S), and for a row without a real token.

    >>> from_mask(torch.tensor([[False, True, True, False]]))
    tensor([[0, 0, 1, 0]])
    """
    real = real_tokens(attention_mask)
    require_tokens(real, "attention mask")
    return (real.cumsum(-1, dtype=torch.int64) - 1) * real


def after_mask(attention_mask: Shaped[Tensor, "B C_plus_new"], new: int) -> Int64[Tensor, "B new"]:
    """Padding and a cache: the ids of the last `new` columns of a mask over cache and new tokens. -> (B, new).

    The slot in a left-padded cache is not the position; the count of real tokens is.

    >>> after_mask(torch.tensor([[0, 0, 1, 1, 1], [1, 1, 1, 1, 1]]), new=1)
    tensor([[2],
            [4]])
    """
    positions = from_mask(attention_mask)
    return positions[:, last(positions, new) :]


def real_tokens(mask: Shaped[Tensor, "B S"]) -> Bool[Tensor, "B S"]:
    """An attention mask as tokenizers write it, (B, S) with 1 for a token and 0 for padding, as booleans.

    Raises PositionError for other values, which a compiled graph cannot look for, or another number of dimensions.

    >>> real_tokens(torch.tensor([[0, 1]]))
    tensor([[False,  True]])
    """
    if mask.ndim != 2:
        raise PositionError(
            f"An attention mask is (batch, sequence), got shape {tuple(mask.shape)}; give the padding mask, not the "
            "expanded one that is added to logits."
        )
    if mask.dtype == torch.bool:  # no other values to look for, which a graph that is traced could not
        return mask.clone()
    real = mask == 1
    if torch.compiler.is_compiling():  # values cannot be read
        return real
    wrong = ~(real | (mask == 0))
    if wrong.any():
        raise PositionError(
            f"An attention mask holds 1 (or True) for tokens and 0 (or False) for padding, got "
            f"{mask[wrong][0].item()} at {tuple(wrong.nonzero()[0].tolist())}."
        )
    return real
