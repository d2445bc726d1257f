"""A model made parallel: each `Attention` in it gives way to one that works with the other ranks."""

import inspect
from collections.abc import Mapping
from typing import Any, TypeVar

import torch.distributed as dist
from torch import nn

from gnomon.attention import Attention
from gnomon.encodings.base import PositionEncoding
from gnomon.errors import GnomonError, PositionError
from gnomon.kernels.given import require
from gnomon.parallel.collectives import place
from gnomon.parallel.context import ContextParallel
from gnomon.parallel.context_attention import ContextParallelAttention
from gnomon.parallel.head_parallel import HeadParallelAttention
from gnomon.parallel.head_shards import head_range, keep_shared

Model = TypeVar("Model", bound=nn.Module)


def head_parallel(model: Model, group: dist.ProcessGroup | None = None) -> Model:
    """Cut the attention layers of a model by heads, in place; each rank keeps its share. Returns the model.

    Every rank does it with the same weights and trains on the same batch. Layers that share an encoding, or parameters
    of it, share those of the part.
    What is not attention stays whole on each rank, and its gradients are equal there.

    Raises GnomonError outside a process group, for a model without attention layers, and for one that is parallel
    already; ShapeError when the heads do not split evenly. The model is then as it was.
    """
    found = attention_of(model)
    rank, world = place(group)
    parts: dict[PositionEncoding, PositionEncoding] = {}
    shares: list[tuple[Attention, Attention]] = []

    def cut(attention: Attention) -> HeadParallelAttention:
        encoding = attention.encoding
        if encoding not in parts:
            parts[encoding] = encoding.for_heads(*head_range(attention.num_heads, rank, world))
        made = HeadParallelAttention(attention, group, encoding=parts[encoding])
        shares.append((attention, made.attention))
        return made

    made = _with_attention(model, {attention: cut(attention) for attention in found})
    keep_shared(shares)
    return made


def context_parallel(model: Model, parallel: ContextParallel) -> Model:
    """Let the attention layers of a model see the tokens of all ranks, in place. Returns the model.

    The model is then called with this rank's share of the ids, of the masks, and of the positions. A model with an
    argument `positions` refuses, with a PositionError, to be called without: it would count its own tokens from 0.

    Raises GnomonError for a model without attention layers, and for one that is parallel already, whichever way.
    """
    found = attention_of(model)
    made = _with_attention(model, {attention: ContextParallelAttention(attention, parallel) for attention in found})
    if "positions" in inspect.signature(model.forward).parameters:
        made.register_forward_pre_hook(_require_positions_given, with_kwargs=True)
    return made


def _require_positions_given(model: nn.Module, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
    given = inspect.signature(model.forward).bind_partial(*args, **kwargs).arguments
    if given.get("positions") is None:
        raise PositionError(
            "A rank cannot tell from its own tokens where they stand: make positions for whole rows with "
            "gnomon.positions, and pass this rank's share of them, parallel.shard(positions)."
        )


def attention_of(model: nn.Module) -> list[Attention]:
    """The layers to replace; raises GnomonError where there are none, or the model is parallel already."""
    require(model, nn.Module, "What is made parallel is a torch.nn.Module with attention layers")
    ready = [m for m in model.modules() if isinstance(m, HeadParallelAttention | ContextParallelAttention)]
    if ready:
        raise GnomonError(
            f"{type(model).__name__} holds {len(ready)} {type(ready[0]).__name__} already; a model is made parallel "
            f"once, by heads or by tokens: start from a plain one."
        )
    found = [module for module in model.modules() if isinstance(module, Attention)]
    if not found or found[0] is model:
        raise GnomonError(
            f"{type(model).__name__} holds no gnomon.attention.Attention to replace; pass a model that does, or build "
            f"the parallel attention itself."
        )
    return found


def _with_attention(model: Model, made: Mapping[Attention, nn.Module]) -> Model:
    for path, module in list(model.named_modules(remove_duplicate=False)):
        if isinstance(module, Attention) and module in made:
            parent, _, name = path.rpartition(".")
            setattr(model.get_submodule(parent), name, made[module])
    return model
