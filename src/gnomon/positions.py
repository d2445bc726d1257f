"""Position ids: the one place that turns masks, lengths, documents and caches into int64 numbers.

Every function returns int64, counts from 0, and never guesses: what it cannot read is a `PositionError`. The joins are
here too, because each pair is a place where models go wrong: padding with a cache (`after_mask`), padding with packing
(`from_documents(..., padding_id=...)`), packing with a cache (`after_documents`, `after_lengths`).

>>> import torch
>>> from_mask(torch.tensor([[0, 0, 1, 1], [1, 1, 1, 0]]))
tensor([[0, 0, 0, 1],
        [0, 1, 2, 0]])
>>> after(3, 2)
tensor([[3, 4]])
"""

import torch
from jaxtyping import Bool, Int64, Shaped
from torch import Tensor

from gnomon.errors import PositionError, ShapeError

_INTEGERS = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)


def from_mask(attention_mask: Shaped[Tensor, "B S"]) -> Int64[Tensor, "B S"]:
    """The number of real tokens before each token; padding gets 0. (B, S) -> (B, S).

    1 or True marks a real token and 0 or False padding, on the left, on the right or on both sides, in any of the usual
    dtypes. Raises PositionError for other values, for a mask that is not (B, S), and for a row without a real token.

    >>> from_mask(torch.tensor([[False, True, True, False]]))
    tensor([[0, 0, 1, 0]])
    """
    real = real_tokens(attention_mask)
    _require_tokens(real, "attention mask")
    return (real.cumsum(-1, dtype=torch.int64) - 1) * real


def after_mask(attention_mask: Shaped[Tensor, "B C_plus_new"], new: int) -> Int64[Tensor, "B new"]:
    """Padding and a cache: the ids of the last `new` columns of a mask over cache and new tokens. -> (B, new).

    The slot in a left-padded cache is not the position; the count of real tokens is.

    >>> after_mask(torch.tensor([[0, 0, 1, 1, 1], [1, 1, 1, 1, 1]]), new=1)
    tensor([[2],
            [4]])
    """
    positions = from_mask(attention_mask)
    return positions[:, _last(positions, new) :]


def from_lengths(cu_seqlens: Shaped[Tensor, " N_plus_1"]) -> Int64[Tensor, " T"]:
    """Positions of packed sequences from cumulative lengths. (N + 1,) -> (T,), where T is the last entry.

    The form that variable-length attention kernels take: 0, then the end of each document. The entries must start at 0
    and grow strictly. A document of length zero (a repeated entry) is refused: it is nearly always a padded or
    unfinished list; drop it.

    >>> from_lengths(torch.tensor([0, 2, 5]))
    tensor([0, 1, 0, 1, 2])
    """
    ends = _cumulative(cu_seqlens)
    starts = torch.repeat_interleave(ends[:-1], ends.diff())
    return torch.arange(len(starts), device=ends.device) - starts


def documents_from_lengths(cu_seqlens: Shaped[Tensor, " N_plus_1"]) -> Int64[Tensor, " T"]:
    """Which document each packed token belongs to, 0 .. N - 1. (N + 1,) -> (T,). The rules of `from_lengths`.

    >>> documents_from_lengths(torch.tensor([0, 2, 5]))
    tensor([0, 0, 1, 1, 1])
    """
    ends = _cumulative(cu_seqlens)
    return torch.repeat_interleave(torch.arange(len(ends) - 1, device=ends.device), ends.diff())


def after_lengths(cache_lengths: Shaped[Tensor, " N"], cu_seqlens: Shaped[Tensor, " N_plus_1"]) -> Int64[Tensor, " T"]:
    """Packing and a cache: N sequences, each with its own cache, whose new tokens are packed. (N,), (N + 1,) -> (T,).

    >>> after_lengths(torch.tensor([7, 0]), torch.tensor([0, 1, 3]))
    tensor([7, 0, 1])
    """
    lengths = _cache_lengths(cache_lengths)
    within, documents = from_lengths(cu_seqlens), documents_from_lengths(cu_seqlens)
    if len(lengths) != len(cu_seqlens) - 1:
        raise ShapeError(
            f"cu_seqlens describes {len(cu_seqlens) - 1} sequences but there are {len(lengths)} cache lengths; "
            "give one cache length for each sequence."
        )
    return within + lengths[documents]


def from_documents(document_ids: Shaped[Tensor, "B S"], *, padding_id: int | None = None) -> Int64[Tensor, "B S"]:
    """Positions of documents packed into rows: they restart at 0 where the id changes. (B, S) -> (B, S).

    Tokens whose id is `padding_id` are padding and get 0. Each document must be one unbroken run: an id that comes back
    later in its row is an error, because a document mask built from equal ids would join the two runs.

    >>> from_documents(torch.tensor([[5, 5, 9, 9, 9, -1]]), padding_id=-1)
    tensor([[0, 1, 0, 1, 2, 0]])
    """
    ids = _integers(document_ids, "document ids", ndim=2)
    real = torch.ones_like(ids, dtype=torch.bool) if padding_id is None else ids != padding_id
    _require_tokens(real, "document ids")
    changed = torch.ones_like(real)
    changed[:, 1:] = ids[:, 1:] != ids[:, :-1]
    _require_unbroken(ids, real, changed)
    index = torch.arange(ids.shape[1], device=ids.device).expand_as(ids)
    starts = (index * changed).cummax(-1).values
    return (index - starts) * real


def after_documents(
    document_ids: Shaped[Tensor, "B C_plus_new"], new: int, *, padding_id: int | None = None
) -> Int64[Tensor, "B new"]:
    """Packing and a cache: the ids of the last `new` columns of document ids over cache and new tokens. -> (B, new).

    >>> after_documents(torch.tensor([[1, 1, 2, 2, 2]]), new=2)
    tensor([[1, 2]])
    """
    positions = from_documents(document_ids, padding_id=padding_id)
    return positions[:, _last(positions, new) :]


def after(
    cache_length: int | Shaped[Tensor, " B"], new: int, *, device: torch.device | str | None = None
) -> Int64[Tensor, "rows new"]:
    """Positions of `new` tokens that follow a cache. An int -> (1, new); (B,) lengths, one a row -> (B, new).

    `device` is where the result for an int is made; lengths in a tensor keep their device. For a padded batch use
    `after_mask`: a padded cache is longer than the number of its real tokens.

    >>> after(torch.tensor([4, 0]), 2)
    tensor([[4, 5],
            [0, 1]])
    """
    if new < 1:
        raise PositionError(f"There must be at least 1 new token, got {new}.")
    if isinstance(cache_length, int):
        if cache_length < 0:
            raise PositionError(f"A cache length cannot be negative, got {cache_length}.")
        return torch.arange(cache_length, cache_length + new, device=device)[None]
    lengths = _cache_lengths(cache_length)
    return lengths[:, None] + torch.arange(new, device=lengths.device)


def real_tokens(mask: Shaped[Tensor, "B S"]) -> Bool[Tensor, "B S"]:
    """An attention mask as tokenizers write it, (B, S) with 1 for a token and 0 for padding, as booleans.

    Raises PositionError for other values or another number of dimensions.

    >>> real_tokens(torch.tensor([[0, 1]]))
    tensor([[False,  True]])
    """
    if mask.ndim != 2:
        raise PositionError(
            f"An attention mask is (batch, sequence), got shape {tuple(mask.shape)}; give the padding mask, not the "
            "expanded one that is added to logits."
        )
    real = mask == 1
    wrong = ~(real | (mask == 0))
    if wrong.any():
        raise PositionError(
            f"An attention mask holds 1 (or True) for tokens and 0 (or False) for padding, got "
            f"{mask[wrong][0].item()} at {tuple(wrong.nonzero()[0].tolist())}."
        )
    return real


def _require_tokens(real: Bool[Tensor, "B S"], noun: str) -> None:
    if real.numel() == 0:
        raise PositionError(f"There is not one token in the {noun}: the shape is {tuple(real.shape)}.")
    empty = (~real.any(-1)).nonzero().flatten().tolist()
    if empty:
        raise PositionError(
            f"Row {empty[0]} of the {noun} has only padding; each row needs at least one real token, so drop the row."
        )


def _require_unbroken(ids: Int64[Tensor, "B S"], real: Bool[Tensor, "B S"], changed: Bool[Tensor, "B S"]) -> None:
    for row, (row_ids, starts) in enumerate(zip(ids, changed & real, strict=True)):
        firsts = row_ids[starts]
        distinct, counts = firsts.unique(return_counts=True)
        if len(distinct) < len(firsts):
            raise PositionError(
                f"Document {distinct[counts > 1][0].item()} comes back later in row {row}; each document must be one "
                "unbroken run, so give the second run an id of its own."
            )


def _integers(values: Tensor, noun: str, ndim: int) -> Int64[Tensor, "..."]:
    if values.dtype not in _INTEGERS:
        raise PositionError(f"The {noun} must be integers, got {values.dtype}.")
    if values.ndim != ndim:
        form = "(batch, sequence)" if ndim == 2 else "one-dimensional"
        raise PositionError(f"The {noun} must be {form}, got shape {tuple(values.shape)}.")
    return values.to(torch.int64)


def _cumulative(cu_seqlens: Tensor) -> Int64[Tensor, " N_plus_1"]:
    ends = _integers(cu_seqlens, "cumulative lengths", ndim=1)
    if len(ends) < 2:
        raise PositionError(f"Cumulative lengths are 0 and then the end of each document, got {ends.tolist()}.")
    if ends[0] != 0:
        raise PositionError(f"Cumulative lengths must start at 0, got {ends[0].item()}; are these plain lengths?")
    steps = ends.diff()
    if (steps <= 0).any():
        at = int((steps <= 0).nonzero()[0])
        what = "is empty" if steps[at] == 0 else "ends before it starts"
        raise PositionError(
            f"Document {at} {what}: cumulative lengths must grow strictly, got {ends[at].item()} and then "
            f"{ends[at + 1].item()}."
        )
    return ends


def _cache_lengths(cache_length: Tensor) -> Int64[Tensor, " N"]:
    lengths = _integers(cache_length, "cache lengths", ndim=1)
    if (lengths < 0).any():
        raise PositionError(f"A cache length cannot be negative, got {lengths.min().item()}.")
    return lengths


def _last(positions: Int64[Tensor, "B S"], new: int) -> int:
    if not 1 <= new <= positions.shape[1]:
        raise PositionError(f"There are {positions.shape[1]} columns for cache and new tokens together, got new={new}.")
    return positions.shape[1] - new
