"""Which tokens of a row each rank holds when a sequence is spread over ranks (context parallelism).

Work positions out for whole rows first, and shard them like the tokens: a rank cannot know from its own tokens alone
where it stands. "zigzag" is how Megatron and ring attention with balanced causal masks cut (Liu et al. 2023,
arXiv:2310.01889, is ring attention itself), "round_robin" is striped attention (Brandon et al. 2023, arXiv:2311.09431).
"""

from collections.abc import Sequence
from typing import Literal, get_args

import torch
from jaxtyping import Int64, Shaped
from torch import Tensor

from gnomon.errors import PositionError, ShapeError

Scheme = Literal["contiguous", "zigzag", "round_robin"]


def shard(
    values: Shaped[Tensor, "B S *rest"], rank: int, world: int, scheme: Scheme = "contiguous", *, dim: int = 1
) -> Shaped[Tensor, "..."]:
    """One rank's share of positions, or of anything else that tokens have. (B, S, ...) -> (B, S / world, ...).

    Packing and ranks: shard positions and document ids after they were built for the whole row. `dim` is the dimension
    of the tokens: -2 for queries and keys (B, H, S, D). See `shard_index` for the schemes.

    >>> shard(torch.arange(8)[None], rank=0, world=2, scheme="zigzag")
    tensor([[0, 1, 6, 7]])
    """
    index = shard_index(values.shape[dim], rank, world, scheme, device=values.device)
    return values.index_select(dim, index)


def shard_index(
    length: int, rank: int, world: int, scheme: Scheme = "contiguous", *, device: torch.device | str | None = None
) -> Int64[Tensor, " share"]:
    """The tokens 0 .. length - 1 that one rank holds, in its order. -> (length / world,).

    "contiguous": chunk `rank` of `world`. "zigzag": of 2 x world chunks, number rank from the front and number rank
    from the back, so that under a causal mask all ranks have as much to do. "round_robin": rank, rank + world, ...
    A length that does not divide is an error that says what to pad to.

    >>> shard_index(8, rank=1, world=4, scheme="round_robin")
    tensor([1, 5])
    """
    _check(length, world, scheme)
    if not 0 <= rank < world:
        raise PositionError(f"Ranks are 0 to {world - 1}, got rank={rank}.")
    tokens = torch.arange(length, device=device)
    if scheme == "round_robin":
        return tokens[rank::world]
    if scheme == "contiguous":
        return tokens.view(world, -1)[rank]
    chunks = tokens.view(2 * world, -1)
    return torch.cat((chunks[rank], chunks[-1 - rank]))


def unshard(
    shards: Sequence[Shaped[Tensor, "..."]], scheme: Scheme = "contiguous", *, dim: int = 1
) -> Shaped[Tensor, "..."]:
    """Whole rows from the shares of ranks 0, 1, ..., as an all-gather brings them: undoes `shard`.

    >>> unshard([torch.tensor([[0, 1, 6, 7]]), torch.tensor([[2, 3, 4, 5]])], "zigzag")
    tensor([[0, 1, 2, 3, 4, 5, 6, 7]])
    """
    shapes = {tuple(part.shape) for part in shards}
    if len(shapes) != 1:
        raise ShapeError(f"The shares of all ranks have one shape, got {sorted(shapes)}; pass one for each rank.")
    joined, world = torch.cat(list(shards), dim=dim), len(shards)
    length = joined.shape[dim]
    order = [shard_index(length, rank, world, scheme, device=joined.device) for rank in range(world)]
    return joined.index_select(dim, torch.cat(order).argsort())


def require_scheme(scheme: object) -> None:
    """Raise PositionError unless it is the name of a scheme."""
    if scheme not in get_args(Scheme):
        raise PositionError(f"The scheme of shards is one of {', '.join(get_args(Scheme))}, got {scheme!r}.")


def _check(length: int, world: int, scheme: str) -> None:
    require_scheme(scheme)
    if world < 1:
        raise PositionError(f"There is at least 1 rank, got world={world}.")
    chunks = 2 * world if scheme == "zigzag" else world
    if length < 1 or length % chunks:
        fits = max(-(-length // chunks), 1) * chunks
        raise PositionError(
            f"{length} tokens do not split into {chunks} equal parts ({scheme}, world={world}); pad the row to {fits}."
        )
