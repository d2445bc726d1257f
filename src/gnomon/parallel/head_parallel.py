"""Tensor parallelism over the heads of attention: Shoeybi et al. 2019, arXiv:1909.08053, section 3."""

from typing import final

import torch
import torch.distributed as dist
from jaxtyping import Float, Int
from torch import Tensor, nn

from gnomon.attention import Attention, AttentionMask, LayerCache
from gnomon.encodings.base import PositionEncoding
from gnomon.kernels.given import require
from gnomon.parallel.collectives import copied, place, summed
from gnomon.parallel.head_shards import key_head_range, shard_heads

OPEN = AttentionMask()


def shared_by_heads(encoding: PositionEncoding) -> tuple[str, ...]:
    """The names of the parameters that all heads read: each rank's gradient of them is a part, to be summed over ranks.

    `HeadParallelAttention` sums them. Whoever cuts an encoding with `for_heads` alone must.

    >>> from gnomon.encodings import FIRE, T5Bias
    >>> shared_by_heads(FIRE(4))
    ('c', 'multiplier', 'hidden.weight', 'hidden.bias')
    >>> shared_by_heads(T5Bias(4))
    ()
    """
    require(encoding, PositionEncoding, "Heads share parameters of a gnomon.encodings.PositionEncoding")
    along = encoding.heads_along or {}
    return tuple(name for name, _ in encoding.named_parameters() if name not in along)


@final
class HeadParallelAttention(nn.Module):
    """One rank's share of the heads of an `Attention`; all ranks together give its output, on every rank.

    Every rank builds it from the same attention, and calls it with the same x, positions and mask. `attention` is the
    share, `output_bias` the whole's bias of its output map. Gradients of x, and of what ranks hold alike (the numbers
    that heads share in an encoding, key heads of several ranks, the output bias), come out equal on all ranks and
    equal to the whole's. A cache holds the key heads of the rank.

    `encoding`: the rank's part of an encoding that several layers share; `head_parallel` takes care of that. Raises
    ShapeError when the heads do not split evenly, GnomonError outside a process group.
    """

    def __init__(
        self,
        attention: Attention,
        group: dist.ProcessGroup | None = None,
        *,
        encoding: PositionEncoding | None = None,
    ) -> None:
        super().__init__()
        self.group = group
        rank, world = place(group)
        self.attention = shard_heads(attention, rank, world, encoding=encoding)
        bias = attention.output.bias
        self.output_bias = None if bias is None else nn.Parameter(bias.detach().clone(), bias.requires_grad)
        #: parameters that other ranks hold too: by name which of how many different ones this rank has
        self.held_alike = {f"encoding.{name}": (0, 1) for name in shared_by_heads(self.attention.encoding)}
        if attention.num_key_heads < world:
            part = (key_head_range(attention, rank, world)[0], attention.num_key_heads)
            sides = (f"{side}.{kind}" for side in ("key", "value") for kind in ("weight", "bias"))
            self.held_alike |= {name: part for name in sides if name in dict(self.attention.named_parameters())}

    @property
    def encoding(self) -> PositionEncoding:
        """The encoding of this rank's heads."""
        return self.attention.encoding

    def forward(
        self,
        x: Float[Tensor, "B S W"],
        positions: Int[Tensor, "#B S *axes"],
        mask: AttentionMask = OPEN,
        cache: LayerCache | None = None,
    ) -> Float[Tensor, "B S W"]:
        """As `Attention`: (B, S, W), (B, S) -> (B, S, W), equal on all ranks."""
        given = (copied(x, self.group), positions, mask, cache)
        own = dict(self.attention.named_parameters(remove_duplicate=False))
        alike = {name: copied(own[name], self.group, part=part) for name, part in self.held_alike.items()}
        part: Tensor = torch.func.functional_call(self.attention, alike, given) if alike else self.attention(*given)
        total = summed(part, self.group)
        return total if self.output_bias is None else total + self.output_bias
