"""Checks of context parallelism: rows spread over ranks give what whole rows give, forward and backward."""

import copy
import itertools
from collections.abc import Callable
from functools import partial
from typing import Any, get_args

import torch

from gnomon import positions as position_ids
from gnomon.attention import Attention, AttentionMask
from gnomon.attention.paths import ATTENTION
from gnomon.encodings import registry
from gnomon.models import Decoder, Encoder, ModelOptions
from gnomon.parallel import ContextParallel, ContextParallelAttention, context_parallel, sum_gradients
from gnomon.positions.sharding import Scheme
from tests.helpers.process_sizes import DIM, HEADS, LENGTH, drawn, error, gradients, positions_for, random, worst

SCHEMES: tuple[Scheme, ...] = get_args(Scheme)
#: Row 0: a document that goes over both ranks in every scheme, between two short ones. Row 1: padding on the left.
DOCUMENTS = torch.tensor([[0] * 3 + [1] * 10 + [2] * 3, [-1] * 5 + [4] * 8 + [5] * 3])
REAL = torch.tensor([[1] * 16, [0] * 5 + [1] * 11])
MASKS: dict[str, tuple[torch.Tensor | None, torch.Tensor | None]] = {
    "open": (None, None),
    "packed": (None, DOCUMENTS),
    "padded": (REAL, None),
    "both": (REAL, DOCUMENTS),
}


def checks() -> dict[str, Callable[[], dict[str, Any]]]:
    found: dict[str, Callable[[], dict[str, Any]]] = {}
    for name, scheme in zip(registry.names(), itertools.cycle(SCHEMES), strict=False):
        found[f"rows-{name}-{scheme}"] = partial(attention, name, scheme, "both")
    for scheme, mask in itertools.product(SCHEMES, MASKS):
        found[f"rows-rotary-{scheme}-{mask}-grouped"] = partial(attention, "rotary", scheme, mask, key_heads=3)
    for path, name in itertools.product(("strided", "blocks"), ("alibi", "rotary", "transformer_xl")):
        found[f"rows-{name}-{path}"] = partial(by_path, path, name)
    for scheme in SCHEMES:
        found[f"rows-t5-{scheme}-window"] = partial(attention, "t5", scheme, "padded", window=4)
        fewest = 4 if scheme == "zigzag" else 2
        found[f"rows-alibi-{scheme}-fewest"] = partial(attention, "alibi", scheme, "open", length=fewest)
        found[f"rows-alibi-{scheme}-encoder"] = partial(attention, "alibi", scheme, "both", causal=False, window=5)
        found[f"rows-decoder-{scheme}"] = partial(model, scheme, Decoder)
        found[f"rows-encoder-{scheme}"] = partial(model, scheme, Encoder)
    return found


def attention(
    name: str,
    scheme: Scheme,
    mask: str,
    *,
    key_heads: int = HEADS,
    window: int | None = None,
    causal: bool = True,
    length: int = LENGTH,
) -> dict[str, Any]:
    """One layer, with padding and documents: output, and the gradients of x, weights and encoding."""
    torch.manual_seed(4)
    encoding = drawn(name)
    whole = Attention(DIM, num_heads=HEADS, num_key_heads=key_heads, encoding=encoding, causal=causal, window=window)
    parallel = ContextParallel(scheme)
    part = ContextParallelAttention(copy.deepcopy(whole), parallel)
    positions = positions_for(encoding, length)
    x, weights = random(2, length, DIM).requires_grad_(), random(2, length, DIM, seed=1)
    share = parallel.shard(x.detach()).requires_grad_()
    given = MASKS[mask]
    want = whole(x, positions, AttentionMask.of(*given))
    own_mask = AttentionMask.of(*(None if each is None else parallel.shard(each) for each in given))
    got = part(share, parallel.shard(positions), own_mask)
    (want * weights).sum().backward()
    (got * parallel.shard(weights)).sum().backward()
    sum_gradients(part)
    assert x.grad is not None
    assert share.grad is not None
    return {
        "output": error(parallel.whole(got.detach()), want),
        "gradient of x": error(parallel.whole(share.grad), x.grad),
        "gradients": worst(gradients(part.attention), gradients(whole)),
    }


def by_path(path: str, name: str) -> dict[str, Any]:
    """The paths that long rows take, on short ones."""
    with ATTENTION.using(path):
        return attention(name, "zigzag", "both")


def model(scheme: Scheme, kind: type[Decoder] | type[Encoder]) -> dict[str, Any]:
    """A model of two layers on packed rows, from ids to loss, with positions made for whole rows."""
    torch.manual_seed(5)
    options = ModelOptions(vocabulary=31, dim=DIM, num_layers=2, num_heads=HEADS, num_key_heads=4)
    whole = kind(options, encoding=drawn("t5" if kind is Encoder else "rotary"))
    parallel = ContextParallel(scheme)
    part = context_parallel(copy.deepcopy(whole), parallel)
    ids = torch.arange(32).reshape(2, 16) * 7 % 31
    positions = position_ids.from_documents(DOCUMENTS)
    want = whole(ids, documents=DOCUMENTS)
    got = part(parallel.shard(ids), documents=parallel.shard(DOCUMENTS), positions=parallel.shard(positions))
    want.log_softmax(-1)[..., 0].sum().backward()
    got.log_softmax(-1)[..., 0].sum().backward()
    sum_gradients(part)
    found = {name.replace(".attention.attention.", ".attention."): g for name, g in gradients(part).items()}
    return {"output": error(parallel.whole(got.detach()), want), "gradients": worst(found, gradients(whole))}
