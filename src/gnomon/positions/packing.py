"""Positions of packed rows: each document counts from 0."""

import torch
from jaxtyping import Bool, Int64, Shaped
from torch import Tensor

from gnomon.errors import PositionError, ShapeError
from gnomon.positions.checking import cache_lengths_of, integers, last, require_tokens


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
    lengths = cache_lengths_of(cache_lengths)
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
    ids = integers(document_ids, "document ids", ndim=2)
    real = torch.ones_like(ids, dtype=torch.bool) if padding_id is None else ids != padding_id
    require_tokens(real, "document ids")
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
    return positions[:, last(positions, new) :]


def _require_unbroken(ids: Int64[Tensor, "B S"], real: Bool[Tensor, "B S"], changed: Bool[Tensor, "B S"]) -> None:
    for row, (row_ids, starts) in enumerate(zip(ids, changed & real, strict=True)):
        firsts = row_ids[starts]
        distinct, counts = firsts.unique(return_counts=True)
        if len(distinct) < len(firsts):
            raise PositionError(
                f"Document {distinct[counts > 1][0].item()} comes back later in row {row}; each document must be one "
                "unbroken run, so give the second run an id of its own."
            )


def _cumulative(cu_seqlens: Tensor) -> Int64[Tensor, " N_plus_1"]:
    ends = integers(cu_seqlens, "cumulative lengths", ndim=1)
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
