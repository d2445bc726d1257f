"""Attention over several processes: heads or tokens cut among ranks, equal to the whole.

`for_heads` of an encoding is the part that the heads of a rank have. `head_parallel` and `context_parallel` turn a
model of gnomon's attention layers into one that works with the other ranks of a torch.distributed process group.
"""

from gnomon.parallel.collectives import copied, gathered, sum_gradients, summed
from gnomon.parallel.context import ContextParallel
from gnomon.parallel.context_attention import ContextParallelAttention
from gnomon.parallel.head_parallel import HeadParallelAttention, shared_by_heads
from gnomon.parallel.head_shards import shard_heads
from gnomon.parallel.models import context_parallel, head_parallel

__all__ = [
    "ContextParallel",
    "ContextParallelAttention",
    "HeadParallelAttention",
    "context_parallel",
    "copied",
    "gathered",
    "head_parallel",
    "shard_heads",
    "shared_by_heads",
    "sum_gradients",
    "summed",
]
