"""One call turns q and k: what it returns, in what order in memory, rounded how often, and what it refuses."""

import math
from typing import Any

import pytest
import torch
from torch import Tensor

from gnomon.errors import GnomonError, PositionError, ShapeError
from gnomon.kernels.rotary import apply_rotary
from tests.helpers.rotation_paths import preferring, runnable

PATHS = pytest.mark.parametrize("path", [None, *runnable()])


def random(*shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape))).to(dtype)


def table(rows: int, pairs: int, dtype: torch.dtype = torch.float32) -> dict[str, Any]:
    angle = torch.arange(rows).double()[:, None] * 0.7 ** torch.arange(pairs).double()
    return {"cos": angle.cos().to(dtype), "sin": angle.sin().to(dtype)}


def test_a_quarter_turn_takes_each_first_member_to_the_second() -> None:
    q, k = random(2, 3, 4, 7), random(2, 1, 4, 7)
    quarter: dict[str, Any] = {"cos": torch.zeros(4, 3), "sin": torch.ones(4, 3)}
    both = apply_rotary(q, k, **quarter, layout="interleaved")
    for x, y in zip((q, k), both, strict=True):
        assert torch.equal(y[..., [1, 3, 5]], x[..., [0, 2, 4]])
        assert torch.equal(y[..., [0, 2, 4]], -x[..., [1, 3, 5]])
        assert torch.equal(y[..., 6], x[..., 6])


@PATHS
@pytest.mark.parametrize("layout", ["half", "interleaved"])
def test_a_score_depends_on_the_difference_of_positions_alone(path: str | None, layout: Any) -> None:
    q, k, angles = random(2, 3, 5, 8), random(2, 1, 5, 8), table(64, 4)
    positions = torch.tensor([[0, 3, 4, 9, 11], [7, 1, 2, 2, 30]])
    with preferring(path):
        (a, b), (c, d) = (apply_rotary(q, k, **angles, layout=layout, positions=positions + shift) for shift in (0, 33))
    torch.testing.assert_close(a @ b.mT, c @ d.mT, atol=1e-5, rtol=0)
    assert not torch.allclose(a, c, atol=0.1)


@PATHS
@pytest.mark.parametrize("layout", ["half", "interleaved"])
@pytest.mark.parametrize("writing", ["fresh", "out", "inplace"])
def test_columns_beyond_the_pairs_pass_through(path: str | None, layout: Any, writing: str) -> None:
    q, k = random(2, 3, 5, 10), random(2, 1, 5, 10)
    before, out = (q.clone(), k.clone()), (torch.zeros_like(q), torch.zeros_like(k))
    with preferring(path):
        both = apply_rotary(
            *(q, k), **table(5, 3), layout=layout, out=out if writing == "out" else None, inplace=writing == "inplace"
        )
    for x, y in zip(before, both, strict=True):
        assert torch.equal(x[..., 6:], y[..., 6:])
        assert not torch.allclose(x[:, :, 1:, :6], y[:, :, 1:, :6], atol=0.1)


@PATHS
def test_half_precision_is_rounded_once(path: str | None) -> None:
    """The bound is that of one rounding of normal numbers; products in bfloat16 are off by 0.03."""
    q = torch.randn(4, 8, 128, 64, generator=torch.Generator().manual_seed(0)).bfloat16()
    angles = table(128, 32)
    with preferring(path):
        got = apply_rotary(q, **angles, layout="half")
    a, b = q.double().chunk(2, -1)
    cos, sin = angles["cos"].double(), angles["sin"].double()
    want = torch.cat((a * cos - b * sin, b * cos + a * sin), -1)
    assert isinstance(got, Tensor)
    assert (got.double() - want).abs().max() <= 0.0157


@PATHS
def test_results_lie_in_memory_as_the_vectors_do(path: str | None) -> None:
    if path == "eager":
        pytest.skip("the eager form makes what its operators make")
    q = random(2, 5, 3, 8)
    with preferring(path):
        tokens_first = apply_rotary(q, **table(5, 4), layout="half", sequence_dim=1)
        heads_first = apply_rotary(q.transpose(1, 2), **table(5, 4), layout="half")
    assert isinstance(tokens_first, Tensor)
    assert isinstance(heads_first, Tensor)
    assert tokens_first.is_contiguous()
    assert heads_first.stride() == q.transpose(1, 2).stride()
    torch.testing.assert_close(heads_first.transpose(1, 2), tokens_first)


@PATHS
@pytest.mark.parametrize("position", [-1, 9])
@pytest.mark.parametrize("writing", [{}, {"inplace": True}])
def test_a_position_outside_the_table_is_an_error_and_nothing_is_written(
    path: str | None, position: int, writing: dict[str, Any]
) -> None:
    q = random(1, 2, 3, 8)
    before = q.clone()
    with preferring(path), pytest.raises(PositionError, match=str(position)):
        apply_rotary(q, **table(9, 4), layout="half", positions=torch.tensor([[0, 8, position]]), **writing)
    assert torch.equal(q, before)


@PATHS
def test_float64_keeps_its_precision(path: str | None) -> None:
    q = random(1, 1, 2, 2).double()
    with preferring(path):
        turned = apply_rotary(q, **table(2, 1, torch.float64), layout="half")
    assert isinstance(turned, Tensor)
    a, b = q[0, 0, 1].tolist()
    assert turned[0, 0, 1].tolist() == pytest.approx(
        [a * math.cos(1) - b * math.sin(1), b * math.cos(1) + a * math.sin(1)], abs=1e-15
    )


@PATHS
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("rows", [1, 2])
def test_large_tensors_are_turned_whole(path: str | None, dtype: torch.dtype, rows: int) -> None:
    q, k = random(2, 5, 700, 34, dtype=dtype), random(2, 3, 700, 34, dtype=dtype)
    angle = torch.rand(rows, 700, 16, generator=torch.Generator().manual_seed(0)) * 6
    with preferring(path):
        both = apply_rotary(q, k, cos=angle.cos(), sin=angle.sin(), layout="half")
    for x, y in zip((q, k), both, strict=True):
        a, b, rest = x.double().split((16, 16, 2), -1)
        cos, sin = angle.double().cos().unsqueeze(1), angle.double().sin().unsqueeze(1)
        want = torch.cat((a * cos - b * sin, b * cos + a * sin, rest), -1)
        allowed = 1e-5 if dtype == torch.float32 else 1.6e-2
        torch.testing.assert_close(y.double(), want, atol=allowed, rtol=allowed / 2)


@pytest.mark.parametrize("shape", [(0, 2, 3, 8), (2, 0, 3, 8), (2, 2, 0, 8)])
def test_nothing_to_turn_gives_nothing(shape: tuple[int, ...]) -> None:
    turned = apply_rotary(torch.ones(shape), **table(shape[2], 4), layout="half")
    assert isinstance(turned, Tensor)
    assert turned.shape == shape


ONES = torch.ones(2, 4, 4)
PLACES = torch.ones(2, 4, dtype=torch.int64)
GOOD: dict[str, Any] = {"q": torch.ones(2, 3, 4, 8), **table(9, 4), "layout": "half", "positions": PLACES}


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"q": torch.ones(3, 4, 8)}, ShapeError, r"q needs four dimensions.*\(3, 4, 8\)"),
        ({"k": torch.ones(3, 4, 8)}, ShapeError, "k needs four dimensions"),
        ({"q": torch.ones(2, 3, 4, 8).long()}, GnomonError, "floating point.*int64"),
        ({"sequence_dim": 0}, GnomonError, "sequence_dim is -2 .* or 1 .*got 0"),
        ({"layout": "pairs"}, GnomonError, "half, interleaved, got 'pairs'"),
        ({"sin": torch.ones(8, 4)}, ShapeError, r"one shape.*\(9, 4\) and \(8, 4\)"),
        ({"cos": torch.ones(9, 4).half()}, GnomonError, "float32 or float64, got torch.float16 and torch.float32"),
        ({"positions": PLACES.int()}, PositionError, "int64, got torch.int32"),
        ({"positions": torch.ones(3, 4).long()}, ShapeError, r"positions for a batch of 2 with 4 tokens.*\(3, 4\)"),
        ({"positions": torch.ones(2, 5).long()}, ShapeError, r"got shape \(2, 5\)"),
        ({"positions": None}, ShapeError, r"cos and sin for a batch of 2 with 4 tokens.*\(1, 9, 4\)"),
        (
            {"cos": ONES, "sin": ONES},
            ShapeError,
            r"tables \(T, P\), got shape \(2, 4, 4\)",
        ),
        ({"k": torch.ones(1, 3, 4, 8)}, ShapeError, "q has 2 and 4, k has 1 and 4"),
        ({"k": torch.ones(2, 3, 4, 6)}, ShapeError, "turn 8 columns but k has 6"),
        ({"q": torch.ones(2, 3, 4, 8, device="meta")}, GnomonError, "q is on meta but cos and sin on cpu"),
        ({"sin": torch.ones(9, 4, device="meta")}, GnomonError, "cos is on cpu but sin on meta"),
        ({"positions": PLACES.to("meta")}, GnomonError, "positions are on meta but cos on cpu"),
        ({"inplace": True, "out": torch.ones(2, 3, 4, 8)}, GnomonError, "either in place or into out"),
        ({"out": (torch.ones(2, 3, 4, 8),) * 2}, GnomonError, "got 2 for 1"),
    ],
)
@pytest.mark.usefixtures("unchecked")
def test_what_does_not_fit_is_one_clear_error(change: dict[str, Any], error: type[GnomonError], words: str) -> None:
    with pytest.raises(error, match=words):
        apply_rotary(**{**GOOD, **change})
