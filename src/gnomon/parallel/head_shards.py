"""Attention cut by heads, as plain modules: what each rank of tensor parallelism holds."""

from collections.abc import Iterable

import torch
from torch import nn

from gnomon.attention import Attention
from gnomon.encodings.base import PositionEncoding
from gnomon.errors import ShapeError
from gnomon.kernels.given import is_whole, require


def shard_heads(attention: Attention, rank: int, world: int, *, encoding: PositionEncoding | None = None) -> Attention:
    """The attention of one rank's share of the heads, with copies of their weights: what it adds to the whole's output.

    The sum over ranks, plus the whole's output bias, is the whole's output: a part has no output bias, since it is
    added once, after the sum. `HeadParallelAttention` does both. Key heads that several query heads share go with
    them; where there are fewer key heads than ranks, several ranks hold the same one. `encoding` is the rank's part of
    the encoding where layers share one; by default the attention's own is cut.

    Raises ShapeError when the heads do not split evenly or the rank is not there, GnomonError for another layer.

    >>> from gnomon.encodings import ALiBi
    >>> whole = Attention(24, num_heads=12, encoding=ALiBi(12), causal=True)
    >>> shard_heads(whole, rank=1, world=2).encoding
    ALiBi(num_heads=6, form='symmetric', alibi_bias_max=8.0, logit_scale=1.0, part_of=[6, 12])
    """
    require(attention, Attention, "Heads are cut of a gnomon.attention.Attention")
    if encoding is not None:
        require(encoding, PositionEncoding, "The encoding of some heads is a gnomon.encodings.PositionEncoding or None")
    first, count = head_range(attention.num_heads, rank, world)
    key_first, key_count = key_head_range(attention, rank, world)
    width = attention.head_dim
    encoding = attention.encoding.for_heads(first, count) if encoding is None else encoding
    with torch.device("meta"):
        part = Attention(
            attention.query.in_features,
            num_heads=count,
            num_key_heads=key_count,
            head_dim=width,
            encoding=encoding,
            causal=attention.causal,
            window=attention.sight.window,
            scale=attention.scale,
        )
    part.query = _rows(attention.query, first * width, count * width)
    part.key = _rows(attention.key, key_first * width, key_count * width)
    part.value = _rows(attention.value, key_first * width, key_count * width)
    part.output = _columns(attention.output, first * width, count * width)
    keep_shared([(attention, part)])
    return part.train(attention.training)


def keep_shared(shares: Iterable[tuple[Attention, Attention]]) -> None:
    """Give the shares, each with what it was cut from, one parameter wherever the wholes have one.

    DeBERTa's layers have one table together, and project it with their own maps of keys and queries (`share_att_key`).
    """
    kept: dict[int, nn.Parameter] = {}
    for whole, part in shares:
        own = dict(part.named_parameters(remove_duplicate=False))
        for name, parameter in whole.named_parameters(remove_duplicate=False):
            if name in own and (same := kept.setdefault(id(parameter), own[name])).shape == own[name].shape:
                owner, _, attribute = name.rpartition(".")
                setattr(part.get_submodule(owner), attribute, same)


def head_range(num_heads: int, rank: int, world: int) -> tuple[int, int]:
    """(first, count) of the heads of a rank.

    >>> head_range(12, rank=2, world=4)
    (6, 3)
    """
    if not (is_whole(rank) and is_whole(world)):
        raise ShapeError(f"Rank and world are integers, got rank={rank!r}, world={world!r}.")
    if world < 1:
        raise ShapeError(f"There is at least 1 rank, got world={world}.")
    if not 0 <= rank < world:
        raise ShapeError(f"Ranks are 0 to {world - 1}, got rank={rank}.")
    if num_heads % world:
        raise ShapeError(f"{num_heads} heads do not split evenly over {world} ranks; use a world that divides them.")
    count = num_heads // world
    return rank * count, count


def key_head_range(attention: Attention, rank: int, world: int) -> tuple[int, int]:
    """(first, count) of the key heads that a rank's heads read."""
    first, count = head_range(attention.num_heads, rank, world)
    readers = attention.num_heads // attention.num_key_heads
    if count % readers and readers % count:
        raise ShapeError(
            f"Each of {attention.num_key_heads} key heads serves {readers} heads, which {count} heads on each of "
            f"{world} ranks cut across; use a world that divides the key heads, or is a multiple of them."
        )
    return first // readers, max(1, count // readers)


def _rows(linear: nn.Linear, start: int, count: int) -> nn.Linear:
    """The linear map to some of the outputs."""
    here = slice(start, start + count)
    return _linear(linear, linear.weight[here], None if linear.bias is None else linear.bias[here])


def _columns(linear: nn.Linear, start: int, count: int) -> nn.Linear:
    """The linear map from some of the inputs, without the bias."""
    return _linear(linear, linear.weight[:, start : start + count], None)


def _linear(like: nn.Linear, weight: torch.Tensor, bias: torch.Tensor | None) -> nn.Linear:
    """A linear map with copies of these numbers, as trainable as `like`."""
    with torch.device("meta"):
        made = nn.Linear(weight.shape[1], weight.shape[0], bias=bias is not None)
    made.weight = nn.Parameter(weight.detach().clone(), like.weight.requires_grad)
    if bias is not None:
        made.bias = nn.Parameter(bias.detach().clone(), like.bias.requires_grad)
    return made.train(like.training)
