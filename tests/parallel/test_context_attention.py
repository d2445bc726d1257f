"""What attention over spread rows refuses, and how it cuts a share into runs."""

import pytest
import torch

from gnomon.attention import Attention, LayerCache
from gnomon.encodings import ALiBi, Rotary
from gnomon.encodings.frequencies import DynamicNTK
from gnomon.errors import GnomonError
from gnomon.parallel import ContextParallel, ContextParallelAttention
from gnomon.parallel.context_attention import BLOCK, runs
from gnomon.positions.sharding import shard_index
from tests.helpers.peaks import peak_growth


def test_an_encoding_that_depends_on_the_length_is_refused_until_it_is_fixed() -> None:
    rotary = Rotary(8, frequencies=DynamicNTK(factor=2.0, original_max_length=64))
    with pytest.raises(GnomonError, match=r"fix the length, encoding\.at_length"):
        ContextParallelAttention(Attention(16, num_heads=2, encoding=rotary, causal=True), ContextParallel())
    fixed = Attention(16, num_heads=2, encoding=rotary.at_length(128), causal=True)
    assert ContextParallelAttention(fixed, ContextParallel()).encoding is fixed.encoding


def test_what_is_no_attention_and_no_context_is_refused() -> None:
    layer = Attention(16, num_heads=2, encoding=ALiBi(2), causal=True)
    with pytest.raises(GnomonError, match=r"for a gnomon\.attention\.Attention, got Linear\.$"):
        ContextParallelAttention(torch.nn.Linear(2, 2), ContextParallel())  # type: ignore[arg-type]
    with pytest.raises(GnomonError, match=r"is a gnomon\.parallel\.ContextParallel\(\.\.\.\), got None\.$"):
        ContextParallelAttention(layer, None)  # type: ignore[arg-type]


def test_a_cache_is_refused() -> None:
    part = ContextParallelAttention(Attention(16, num_heads=2, encoding=ALiBi(2), causal=True), ContextParallel())
    with pytest.raises(GnomonError, match="have no cache"):
        part(torch.randn(1, 4, 16), torch.arange(4)[None], cache=LayerCache())


@pytest.mark.parametrize(
    ("scheme", "expected"),
    [
        ("contiguous", [(0, 2 * BLOCK)]),
        ("zigzag", [(0, BLOCK), (BLOCK, 2 * BLOCK)]),
        ("round_robin", [(0, BLOCK), (BLOCK, 2 * BLOCK)]),
    ],
)
def test_a_share_is_done_in_few_runs(scheme: str, expected: list[tuple[int, int]]) -> None:
    slots = shard_index(6 * BLOCK, 1, 3, scheme).tolist()  # type: ignore[arg-type]
    assert list(runs(slots)) == expected


def test_one_slot_is_one_run() -> None:
    assert list(runs([5])) == [(0, 1)]


LONG_ROWS = """
import torch
import torch.distributed as dist
from gnomon.attention import Attention
from gnomon.encodings import ALiBi
from gnomon.parallel import ContextParallel, ContextParallelAttention

def setup(length):
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    layer = Attention(64, num_heads=8, encoding=ALiBi(8), causal=True)
    spread = ContextParallelAttention(layer, ContextParallel("zigzag")).requires_grad_(False)
    return spread, torch.randn(1, length, 64), torch.arange(length)[None]

def warm_up(thing):
    thing[0](thing[1][:, :64], thing[2][:, :64])

def run(thing):
    thing[0](*thing[1:])
"""


def test_memory_of_zigzag_shares_grows_with_the_length_and_holds_no_matrix() -> None:
    short, long = (peak_growth(LONG_ROWS, length=length) for length in (2048, 4096))
    matrix = 8 * 2048 * 2048 * 4
    assert short < matrix / 4
    assert long < 3 * max(short, 4 << 20)
