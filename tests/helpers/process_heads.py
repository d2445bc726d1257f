"""Checks of tensor parallelism: heads cut among ranks give what the whole gives, forward and backward."""

import copy
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
import torch.distributed as dist

from gnomon.attention import Attention, AttentionMask, LayerCache
from gnomon.encodings import PositionEncoding, registry
from gnomon.errors import GnomonError
from gnomon.models import Decoder, ModelOptions
from gnomon.parallel import (
    ContextParallel,
    HeadParallelAttention,
    context_parallel,
    head_parallel,
    shard_heads,
    shared_by_heads,
)
from tests.helpers.process_sizes import DIM, HEADS, WIDTH, drawn, error, gradients, positions_for, random, worst

MASK = torch.ones(2, 16, dtype=torch.int64).index_fill(1, torch.arange(3), 0)


def checks() -> dict[str, Callable[[], dict[str, Any]]]:
    found: dict[str, Callable[[], dict[str, Any]]] = {
        f"heads-{name}": partial(attention, name, HEADS) for name in registry.names()
    }
    for name, key_heads in (("rotary", 4), ("alibi", 4), ("t5", 1), ("rotary", 1)):
        found[f"heads-{name}-{key_heads}"] = partial(attention, name, key_heads)
    return {
        **found,
        "heads-cache": decoding,
        "heads-tied": tied,
        "once": once,
        "outside": outside,
        "heads-model-t5": partial(model, "t5"),
        "heads-model-fire": partial(model, "fire"),
    }


def attention(name: str, key_heads: int) -> dict[str, Any]:
    """One layer, with padding on the left: output, and the gradients of x, weights and encoding."""
    whole = layer(drawn(name), key_heads)
    part = HeadParallelAttention(whole)
    positions, mask = positions_for(whole.encoding), AttentionMask.of(MASK)
    x, same = random(2, 16, DIM).requires_grad_(), random(2, 16, DIM).requires_grad_()
    weights = random(2, 16, DIM, seed=1)
    want, got = whole(x, positions, mask), part(same, positions, mask)
    (want * weights).sum().backward()
    (got * weights).sum().backward()
    assert x.grad is not None
    assert same.grad is not None
    assert part.output_bias is not None
    return {
        "output": error(got, want),
        "gradient of x": error(same.grad, x.grad),
        "gradients": worst(gradients(part.attention), share_of(gradients_as_weights(whole))),
        "gradient of output bias": error(gradients(part)["output_bias"], gradients(whole)["output.bias"]),
        "parameters": sum(p.numel() for p in part.parameters()) / sum(p.numel() for p in whole.parameters()),
    }


def layer(encoding: PositionEncoding, key_heads: int) -> Attention:
    torch.manual_seed(4)
    return Attention(DIM, num_heads=HEADS, num_key_heads=key_heads, encoding=encoding, causal=True)


def gradients_as_weights(whole: Attention) -> Attention:
    """The same layer with each parameter replaced by its gradient, to be cut as the parameters are."""
    other = copy.deepcopy(whole)
    with torch.no_grad():
        for name, parameter in other.named_parameters():
            parameter.copy_(gradients(whole)[name])
    return other


def share_of(whole: Attention) -> dict[str, torch.Tensor]:
    part = shard_heads(whole, dist.get_rank(), dist.get_world_size())
    return {name: parameter.detach() for name, parameter in part.named_parameters()}


def decoding() -> dict[str, Any]:
    """Token by token through a cache that holds the rank's key heads."""
    whole = layer(drawn("alibi"), 4)
    part, cache = HeadParallelAttention(whole), LayerCache()
    positions, x = positions_for(whole.encoding), random(2, 16, DIM)
    steps = [part(x[:, i : i + 1], positions[:, i : i + 1], cache=cache) for i in range(16)]
    assert cache.stored is not None
    return {"output": error(torch.cat(steps, dim=1), whole(x, positions)), "key heads": cache.stored.keys.shape[1]}


def model(name: str) -> dict[str, Any]:
    """A decoder whose two layers share one encoding: loss, and the gradients of what every rank holds alike."""
    torch.manual_seed(5)
    options = ModelOptions(vocabulary=31, dim=DIM, num_layers=2, num_heads=HEADS)
    whole = Decoder(options, encoding=drawn(name))
    part = head_parallel(copy.deepcopy(whole))
    ids = torch.arange(32).reshape(2, 16) * 7 % 31
    losses = [each(ids).log_softmax(-1)[..., 0].sum() for each in (whole, part)]
    for loss in losses:
        loss.backward()
    want, got = gradients(whole), gradients(part)
    alike = {name: name for name in want if "attention." not in name}
    common = "stack.blocks.0.attention"  # where a shared encoding is listed
    alike |= {
        f"{common}.encoding.{name}": f"{common}.attention.encoding.{name}" for name in shared_by_heads(whole.encoding)
    }
    return {
        "loss": error(losses[1], losses[0]),
        "gradients": max(error(got[part_name], want[name]) for name, part_name in alike.items()),
        "encodings": len({id(m) for m in part.modules() if isinstance(m, PositionEncoding)}),
    }


def tied() -> dict[str, Any]:
    """DeBERTa as in its checkpoints: one table for all layers, projected with the layer's own maps."""
    torch.manual_seed(5)
    options = ModelOptions(vocabulary=31, dim=DIM, num_layers=2, num_heads=HEADS)
    encodings = [drawn("deberta", num_heads=HEADS, head_dim=WIDTH, dim=DIM, max_distance=6) for _ in range(2)]
    whole = Decoder(options, encoding=encodings)
    for layer in (module for module in whole.modules() if isinstance(module, Attention)):
        layer.encoding.register_parameter("weight", encodings[0].get_parameter("weight"))
        layer.encoding.register_module("position_key", layer.key)
        layer.encoding.register_module("position_query", layer.query)
    part = head_parallel(copy.deepcopy(whole))
    ids = torch.arange(32).reshape(2, 16) * 7 % 31
    for each in (whole, part):
        each(ids).log_softmax(-1)[..., 0].sum().backward()
    keys = whole.get_parameter("stack.blocks.1.attention.key.weight").grad
    own = part.get_parameter("stack.blocks.1.attention.attention.key.weight").grad
    first = "stack.blocks.0.attention"
    assert keys is not None
    assert own is not None
    return {
        "gradient of the table": error(
            gradients(part)[f"{first}.attention.encoding.weight"], gradients(whole)[f"{first}.encoding.weight"]
        ),
        "gradient of keys": error(own, keys.chunk(dist.get_world_size())[dist.get_rank()]),
        "parameters more": len(list(part.parameters())) - len(list(whole.parameters())),
    }


def once() -> dict[str, Any]:
    """What a model whose heads are cut says when it is to be made parallel again, with the same group or another."""
    torch.manual_seed(5)
    part = head_parallel(
        Decoder(ModelOptions(vocabulary=31, dim=DIM, num_layers=2, num_heads=HEADS), encoding=drawn("t5"))
    )
    ids = torch.arange(32).reshape(2, 16) * 7 % 31
    before = part(ids)
    other = dist.new_group([0, 1])
    again: list[Callable[[], object]] = [
        make
        for group in (None, other)
        for make in (partial(head_parallel, part, group), partial(context_parallel, part, ContextParallel(group=group)))
    ]
    told = [_refused(make) for make in again]
    return {"refused": [said.partition(";")[0] for said in told], "loss changed": error(part(ids), before)}


def outside() -> dict[str, Any]:
    """What a process says that is given a group of others alone."""
    group, other = (dist.new_group([rank]) for rank in range(2))
    return {"refused": [_refused(partial(ContextParallel, "zigzag", (other, group)[dist.get_rank()]))]}


def _refused(make: Callable[[], object]) -> str:
    try:
        make()
    except GnomonError as error:
        return str(error)
    return "not refused"
