"""Sequences spread over ranks, and put together again."""

from dataclasses import dataclass
from typing import final

import torch
import torch.distributed as dist
from jaxtyping import Int64, Shaped
from torch import Tensor

from gnomon.parallel.collectives import gathered, place, require_group
from gnomon.positions.sharding import Scheme, require_scheme, shard, shard_index, unshard


@final
@dataclass(frozen=True)
class ContextParallel:
    """How the tokens of a row are spread over the ranks of a group: the schemes of `gnomon.positions.shard`.

    Build positions, masks and document ids for whole rows, and `shard` them like the tokens. `group` None is the group
    of all processes. Raises PositionError for another scheme, and for lengths that do not split evenly; GnomonError for
    what is no group, and, when it is used, outside a process group.
    """

    scheme: Scheme = "contiguous"
    group: dist.ProcessGroup | None = None

    def __post_init__(self) -> None:
        require_scheme(self.scheme)
        require_group(self.group)

    @property
    def rank(self) -> int:
        """Which share this process holds."""
        return place(self.group)[0]

    @property
    def world(self) -> int:
        """How many shares there are."""
        return place(self.group)[1]

    def shard(self, values: Shaped[Tensor, "..."], *, dim: int = 1) -> Shaped[Tensor, "..."]:
        """This rank's share of what tokens have: ids, positions, masks, labels. `dim` is that of the tokens."""
        return shard(values, self.rank, self.world, self.scheme, dim=dim)

    def slots(self, length: int) -> Int64[Tensor, " share"]:
        """Which slots of rows of this length the rank holds, in its order."""
        return shard_index(length, self.rank, self.world, self.scheme)

    def whole(self, share: Shaped[Tensor, "..."], *, dim: int = 1) -> Shaped[Tensor, "..."]:
        """Whole rows from the shares of all ranks, in order; undoes `shard`, and is on every rank.

        Gradients of every rank's use of the rows come back to the share. Each rank calls it with a share of one shape.
        """
        if share.dtype == torch.bool:  # not every backend sends these
            return unshard(gathered(share.to(torch.uint8), self.group), self.scheme, dim=dim).bool()
        return unshard(gathered(share, self.group), self.scheme, dim=dim)
