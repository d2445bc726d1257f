"""Attention by distance against the formula with a matrix of numbers: values, gradients, precision, memory."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from gnomon.errors import ShapeError
from gnomon.kernels import toeplitz
from gnomon.kernels.band import Reach, distances
from gnomon.kernels.toeplitz import toeplitz_attention
from tests.helpers.peaks import peak_growth

SIZES = [(37, 37, 0), (5, 37, 32), (7, 30, 11), (1, 9, 8), (1, 1, 0)]
REACHES: list[Reach] = [(None, 0), (None, None), (-4, 0), (-3, 3), (-20, 0)]
HEADS = [(4, 4), (6, 2), (3, 1)]


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toeplitz, "ROWS", 8)
    monkeypatch.setattr(toeplitz, "ROWS_BACK", 16)
    monkeypatch.setattr(toeplitz, "LOGITS", 16 * 37 * 2)


def formula(q: Tensor, k: Tensor, v: Tensor, numbers: Tensor, offset: int, scale: float, reach: Reach) -> Tensor:
    """The same with all pairs in memory, in float64."""
    q, k, v, numbers = (x.double() for x in (q, k, v, numbers))
    Q, K, shared = q.shape[2], k.shape[2], q.shape[1] // k.shape[1]
    steps = distances(Q, K, offset=offset, reach=reach)
    ahead = torch.arange(K) - torch.arange(offset, offset + Q)[:, None]
    hidden = (ahead < steps.start) | (ahead >= steps.stop)
    bias = numbers[:, (ahead - steps.start).clamp(0, len(steps) - 1)].masked_fill(hidden, -torch.inf)
    k, v = (x.repeat_interleave(shared, dim=1) for x in (k, v))
    return (q @ k.mT * scale + bias).softmax(-1) @ v


def drawn(
    sizes: tuple[int, int, int], heads: tuple[int, int], reach: Reach, *, rows: int | None = None, dtype: torch.dtype
) -> list[Tensor]:
    """q, with heads and slots in the order of a projection, k, v and numbers; all want gradients."""
    (Q, K, offset), (H, G) = sizes, heads
    generator = torch.Generator().manual_seed(0)
    steps = distances(Q, K, offset=offset, reach=reach)
    shapes = [(2, Q, H, 8), (2, K, G, 8), (2, G, K, 8), (rows or H, len(steps))]
    q, k, v, numbers = (torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype) for shape in shapes)
    return [x.requires_grad_() for x in (q.transpose(1, 2), k.transpose(1, 2), v, numbers)]


def values_and_gradients(function: Callable[..., Tensor], given: list[Tensor], **options: object) -> list[Tensor]:
    out = function(*given, **options)
    weights = torch.linspace(-1, 1, out.numel(), dtype=torch.float64).view_as(out)
    return [out, *torch.autograd.grad((out * weights).sum(), given)]


@pytest.mark.parametrize("reach", REACHES)
@pytest.mark.parametrize("heads", HEADS)
@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_values_and_all_gradients_equal_the_formula(
    sizes: tuple[int, int, int], heads: tuple[int, int], reach: Reach, dtype: torch.dtype
) -> None:
    options = {"offset": sizes[2], "scale": 0.3, "reach": reach}
    for rows in (None, 1):
        given = drawn(sizes, heads, reach, rows=rows, dtype=dtype)
        got = values_and_gradients(toeplitz_attention, given, **options)
        want = values_and_gradients(formula, given, **options)
        tolerance = 1e-12 if dtype == torch.float64 else 4e-6
        for ours, theirs in zip(got, want, strict=True):
            assert ours.dtype == dtype
            assert ours.shape == theirs.shape
            assert (ours - theirs).abs().max() < tolerance * theirs.abs().max().clamp_min(1.0)


def test_gradients_equal_finite_differences() -> None:
    given = drawn((3, 5, 2), (2, 1), (-3, 0), dtype=torch.float64)
    options: dict[str, Any] = {"offset": 2, "scale": 0.5, "reach": (-3, 0)}
    torch.autograd.gradcheck(lambda *x: toeplitz_attention(*x, **options), given, fast_mode=True)


def test_only_what_is_asked_for_gets_a_gradient() -> None:
    q, k, v, numbers = (x.detach() for x in drawn((9, 9, 0), (4, 2), (None, 0), dtype=torch.float32))
    numbers.requires_grad_()
    out = toeplitz_attention(q, k, v, numbers, offset=0, scale=0.3, reach=(None, 0))
    out.square().sum().backward()
    assert numbers.grad is not None
    assert numbers.grad.abs().max() > 1e-3
    fixed = toeplitz_attention(q, k, v, numbers.detach(), offset=0, scale=0.3, reach=(None, 0))
    assert not fixed.requires_grad


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_is_off_by_its_rounding(dtype: torch.dtype) -> None:
    """Numbers as large as those of ALiBi far out, which half precision cannot tell apart unless they are moved."""
    q, k, v, _ = (x.detach() for x in drawn((37, 37, 0), (4, 4), (None, 0), dtype=dtype))
    numbers = 4000 + 0.25 * torch.tensor(distances(37, 37, offset=0, reach=(None, 0))).expand(4, -1)
    given = [x.detach().requires_grad_() for x in (q, k, v, numbers)]
    options = {"offset": 0, "scale": 0.3, "reach": (None, 0)}
    got = values_and_gradients(toeplitz_attention, given, **options)
    want = values_and_gradients(formula, given, **options)
    for ours, theirs in zip(got, want, strict=True):
        assert (ours - theirs).abs().max() < 4 * torch.finfo(dtype).eps * theirs.abs().max().clamp_min(1.0)


@pytest.mark.parametrize("far", [5.0, 20.0, 1000.0])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_keeps_the_numbers_of_queries_that_do_not_see_the_largest(
    monkeypatch: pytest.MonkeyPatch, dtype: torch.dtype, far: float
) -> None:
    """As in a T5 bias whose last bucket is large: it is in sight of the last queries of a block alone."""
    monkeypatch.setattr(toeplitz, "ROWS", 256)
    q, k, v, numbers = (x.detach() for x in drawn((37, 37, 0), (4, 4), (None, 0), dtype=dtype))
    numbers = numbers.float().index_fill(1, torch.arange(6), far)
    got = toeplitz_attention(q, k, v, numbers, offset=0, scale=0.3, reach=(None, 0)).double()
    want = formula(q, k, v, numbers, 0, 0.3, (None, 0))
    assert (got - want).abs().max() < 1.5 * torch.finfo(dtype).eps * want.abs().max()


def test_autocast_leaves_the_numbers_as_they_are() -> None:
    q, k, v, numbers = (x.detach() for x in drawn((37, 37, 0), (4, 2), (None, 0), dtype=torch.bfloat16))
    numbers = numbers.float().index_fill(1, torch.arange(6), 1000.0)
    options: dict[str, Any] = {"offset": 0, "scale": 0.3, "reach": (None, 0)}
    with torch.autocast("cpu", dtype=torch.bfloat16):
        got = toeplitz_attention(q, k, v, numbers, **options)
    assert torch.equal(got, toeplitz_attention(q, k, v, numbers, **options))


def test_gradients_under_autocast_are_those_without() -> None:
    given = drawn((9, 9, 0), (4, 2), (None, 0), dtype=torch.float32)
    options = {"offset": 0, "scale": 0.3, "reach": (None, 0)}
    out = toeplitz_attention(*given, **options)  # type: ignore[arg-type]
    want = torch.autograd.grad(out.sum(), given, retain_graph=True)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        got = torch.autograd.grad(out.sum(), given)
    assert all(torch.equal(ours, theirs) for ours, theirs in zip(got, want, strict=True))


@pytest.mark.usefixtures("unchecked")
def test_numbers_that_do_not_fit_are_refused() -> None:
    q = torch.randn(1, 4, 6, 8)
    for shape, reach in (((4, 5), (None, 0)), ((3, 6), (None, 0)), ((4, 2), (-3, -2))):
        with pytest.raises(ShapeError, match=rf"1 or 4 rows, got numbers of shape \({shape[0]}, {shape[1]}\)"):
            toeplitz_attention(q, q, q, torch.zeros(shape), offset=0, scale=1.0, reach=reach)  # type: ignore[arg-type]


CODE = """
import torch
from gnomon.kernels.toeplitz import toeplitz_attention

def setup(length):
    q, k, v = (torch.randn(1, 4, length, 32, requires_grad=True) for _ in range(3))
    return q, k, v, torch.zeros(4, length, requires_grad=True)

def run(given):
    q, k, v, numbers = given
    out = toeplitz_attention(q, k, v, numbers, offset=0, scale=1.0, reach=(None, 0))
    return torch.autograd.grad(out.sum(), given)

def warm_up(given):
    run([x[..., :300, :] if x.ndim == 4 else x[:, :300] for x in given])
"""


def test_memory_grows_with_the_length_and_not_with_its_square() -> None:
    """Per slot: the output, its gradient, those of q, k and v, and keys, values and their gradients once more."""
    short, long = (peak_growth(CODE, length=length) for length in (2000, 4000))
    vectors = 4 * 32 * 4 * 2000  # bytes of 2000 queries
    assert 4 * vectors < long - short < 11 * vectors  # a matrix of numbers would be 47 times that
