"""Strides, shared memory, alignment, large tensors and threads of the compiled rotation, against its plainest use."""

import pytest
import torch
from torch import Tensor

from gnomon.kernels import native
from gnomon.kernels.rotation import rotate
from tests.helpers.native_rotation import DTYPES, angles, inner, level, levels, needs_kernel, random, rotated

pytestmark = needs_kernel

BATCH, HEADS, LENGTH, WIDTH, PAIRS = 2, 3, 37, 44, 20


def turn(source: Tensor, destination: Tensor, cos: Tensor, sin: Tensor, *, interleaved: bool, threads: int = 1) -> None:
    assert native.rotate(((source, destination),), cos, sin, None, interleaved, 1.0, threads) == -1


def laid_out(x: Tensor, order: str) -> Tensor:
    """An equal tensor of the same shape, in other memory."""
    if order == "tokens outside":
        return x.transpose(1, 2).contiguous().transpose(1, 2)
    if order == "heads outside all":
        return x.permute(1, 0, 2, 3).contiguous().permute(1, 0, 2, 3)
    if order == "every second place":
        return torch.stack((x, x + 1), dim=3).flatten(2, 3)[:, :, ::2]
    if order == "an odd column":
        return torch.nn.functional.pad(x, (3, 2))[..., 3:-2]
    if order == "one part of q, k and v":
        return torch.cat((x, x + 1, x + 2), dim=-1)[..., WIDTH : 2 * WIDTH].sub_(1)
    return x.clone()


ORDERS = (
    "plain",
    "tokens outside",
    "heads outside all",
    "every second place",
    "an odd column",
    "one part of q, k and v",
)


@pytest.mark.parametrize("interleaved", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("order", ORDERS)
def test_strides_change_nothing(order: str, dtype: torch.dtype, interleaved: bool) -> None:
    whole = random(BATCH, HEADS, LENGTH, WIDTH).mul(8).round().to(dtype)  # integers: adding and taking away is exact
    cos, sin = angles(BATCH, LENGTH, PAIRS)
    for name in levels():
        with level(name):
            plain = rotated(whole, cos, sin, interleaved=interleaved)
            read, written, both = (laid_out(whole, order) for _ in range(3))
            assert torch.equal(rotated(read, cos, sin, interleaved=interleaved), plain)
            turn(whole, written, cos, sin, interleaved=interleaved)
            assert torch.equal(written, plain)
            turn(both, both, cos, sin, interleaved=interleaved)
            assert torch.equal(both, plain)


@pytest.mark.parametrize("interleaved", [False, True])
def test_nothing_beside_the_destination_is_written(interleaved: bool) -> None:
    cos, sin = angles(LENGTH, PAIRS)
    around = random(BATCH, HEADS, LENGTH + 2, WIDTH + 4)
    inside = (slice(None), slice(None), slice(1, -1), slice(1, -3))
    for source in (random(BATCH, HEADS, LENGTH, WIDTH, seed=5), around[inside]):
        before = around.clone()
        turn(source, around[inside], cos, sin, interleaved=interleaved)
        before[inside] = around[inside]
        assert torch.equal(around, before)


def test_in_place_the_columns_that_do_not_turn_are_not_touched() -> None:
    x, (cos, sin) = random(1, 2, 3, 10), angles(3, 2)
    expected = rotate(x, cos, sin, layout="half")
    turn(x, x, cos, sin, interleaved=False)
    assert torch.equal(x, expected)


@pytest.mark.parametrize("interleaved", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", levels())
def test_results_that_are_too_large_for_the_caches_are_equal(name: str, dtype: torch.dtype, interleaved: bool) -> None:
    length = (9 << 20) // (2 * 128 * dtype.itemsize)
    x, (cos, sin) = random(1, 2, 16, 128, dtype=dtype).repeat(1, 1, length // 16, 1), angles(16, 64)
    with level(name):
        small = rotated(x[:, :, :16], cos, sin, interleaved=interleaved)
        large = rotated(x, cos.repeat(length // 16, 1), sin.repeat(length // 16, 1), interleaved=interleaved)
    assert torch.equal(large, small.repeat(1, 1, length // 16, 1))


@pytest.mark.parametrize("sizes", [(1, 8, 300, 64), (5, 4, 100, 96), (3, 70, 33, 40)])
@pytest.mark.parametrize("threads", [2, 3, 7])
def test_threads_change_no_bit(sizes: tuple[int, int, int, int], threads: int) -> None:
    x, (cos, sin) = random(*sizes), angles(sizes[0], sizes[2], 20)
    assert x.nbytes > 2 * 64 * 1024  # two threads at least have work
    result = torch.empty_like(x)
    turn(x, result, cos, sin, interleaved=False, threads=threads)
    assert torch.equal(result, rotated(x, cos, sin, interleaved=False))


def test_queries_and_fewer_keys_turn_together() -> None:
    q, k, (cos, sin) = random(2, 6, 5, 16), random(2, 2, 5, 16, seed=3), angles(5, 8)
    results = torch.empty_like(q), torch.empty_like(k)
    assert native.rotate(((q, results[0]), (k, results[1])), cos, sin, None, False, 1.0, 1) == -1
    assert torch.equal(results[0], rotated(q, cos, sin, interleaved=False))
    assert torch.equal(results[1], rotated(k, cos, sin, interleaved=False))


@pytest.mark.parametrize("sizes", [(0, 2, 3, 8), (2, 0, 3, 8), (2, 2, 0, 8)])
def test_empty_tensors_are_nothing_to_do(sizes: tuple[int, int, int, int]) -> None:
    x, (cos, sin) = random(*sizes), angles(sizes[2], 4)
    turn(x, x, cos, sin, interleaved=False)


@pytest.mark.parametrize("by_methods", [False, True])
def test_tensors_are_read_alike_by_the_table_and_by_methods(by_methods: bool) -> None:
    x = torch.nn.Parameter(random(BATCH, HEADS, LENGTH, WIDTH).transpose(0, 1)[:, :, 1:, :])  # a leaf with an offset
    positions = torch.randint(50, (1, 72), generator=torch.Generator().manual_seed(0))[:, ::2]
    cos, sin = angles(50, PAIRS)
    inner().read_by_methods(by_methods)
    try:
        result = rotated(x, cos, sin, positions, interleaved=True)
    finally:
        inner().read_by_methods(False)
    expected = rotate(x, cos[positions].unsqueeze(1), sin[positions].unsqueeze(1), layout="interleaved")
    assert torch.equal(result, expected)
