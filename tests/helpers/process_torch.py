"""Checks with PyTorch's own context parallelism, imported inside functions: collecting the tests does not need it."""

from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.nn import functional

from gnomon.attention import Attention
from gnomon.encodings import Rotary
from gnomon.parallel import ContextParallel, ContextParallelAttention
from tests.helpers.process_sizes import DIM, HEADS, LENGTH, WIDTH, error, random


def checks() -> dict[str, Callable[[], dict[str, Any]]]:
    return {"torch-shards": rows, "torch-attention": kernel}


def rows() -> dict[str, Any]:
    """PyTorch shards the tokens and gnomon's positions, in its own order; gnomon's attention runs on the shards."""
    from torch.distributed.tensor.experimental import context_parallel

    torch.manual_seed(4)
    whole = Attention(DIM, num_heads=HEADS, encoding=Rotary(WIDTH), causal=True)
    x, positions = random(2, LENGTH, DIM), torch.arange(5, 5 + LENGTH)[None]
    share, own = x.clone(), positions.clone()
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    with context_parallel(mesh, buffers=[share, own], buffer_seq_dims=[1, 1]):
        share, own = share.clone(), own.clone()
    parallel = ContextParallel("zigzag")
    got = ContextParallelAttention(whole, parallel)(share, own)
    return {
        "positions": own.tolist() == parallel.shard(positions).tolist(),
        "output": error(parallel.whole(got), whole(x, positions)),
    }


def kernel() -> dict[str, Any]:
    """PyTorch's own attention on such shards, which has no CPU form: the name of its error."""
    from torch.distributed.tensor.experimental import context_parallel

    q, k, v = (random(1, 2, 8, 4, seed=seed) for seed in range(3))
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    try:
        with context_parallel(mesh, buffers=[q, k, v], buffer_seq_dims=[2, 2, 2]):
            functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    except NotImplementedError as refused:
        return {"refused": str(refused)}
    return {"refused": ""}
