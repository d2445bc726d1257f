"""Lines of positions against scalar references, torch's interpolation and what the formulas promise."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn.functional import interpolate

from gnomon.errors import GnomonError
from gnomon.extending.tables import (
    hierarchical,
    hierarchy,
    interpolated,
    interpolating,
    keep_first,
    keeping,
    tiled,
    tiling,
)
from gnomon.extending.tables.stencil import Stencil
from tests.helpers.weights import normal

SIZES = [(7, 19), (8, 9), (5, 25), (3, 4)]
WAYS: dict[str, tuple[Callable[[Tensor, int], Tensor], Callable[[int, int, list[list[float]], int], float]]] = {
    "linear": (interpolated, interpolating.reference),
    "cubic": (lambda table, to: interpolated(table, to, kind="cubic"), interpolating.reference_cubic),
    "tile": (tiled, lambda m, column, table, to: tiling.reference(m, column, table)),
    "keep": (
        lambda table, to: keep_first(table, to, keep=1),
        lambda m, column, table, to: keeping.reference(m, column, table, to, 1),
    ),
    "hierarchy": (hierarchical, lambda m, column, table, to: hierarchy.reference(m, column, table)),
    "hierarchy, other share": (
        lambda table, to: hierarchical(table, to, alpha=0.15),
        lambda m, column, table, to: hierarchy.reference(m, column, table, 0.15),
    ),
}


def scalar(reference: Any, table: Tensor, to: int) -> Tensor:
    rows, width = table.tolist(), table.shape[1]
    values = [[reference(m, column, rows, to) for column in range(width)] for m in range(to)]
    return torch.tensor(values, dtype=torch.float64)


@pytest.mark.parametrize(("old", "new"), SIZES)
@pytest.mark.parametrize("way", WAYS)
def test_every_way_equals_its_published_formula(way: str, old: int, new: int) -> None:
    make, reference = WAYS[way]
    table = normal(old, 3).double()
    torch.testing.assert_close(make(table, new), scalar(reference, table, new), rtol=1e-13, atol=1e-13)


def test_linear_is_what_torch_makes_with_aligned_corners() -> None:
    table = normal(37, 5)
    expected = interpolate(table.T[None].double(), size=100, mode="linear", align_corners=True)[0].T
    torch.testing.assert_close(interpolated(table, 100), expected.float(), rtol=1e-6, atol=1e-6)


def test_a_cubic_reproduces_every_quadratic_also_at_the_ends() -> None:
    places = torch.arange(6, dtype=torch.float64)
    fine = torch.arange(26, dtype=torch.float64) / 5

    def quadratic(x: Tensor) -> Tensor:
        return (2 * x**2 - 3 * x + 1)[:, None]

    torch.testing.assert_close(interpolated(quadratic(places), 26, kind="cubic"), quadratic(fine))


@pytest.mark.parametrize("kind", ["linear", "cubic"])
def test_interpolation_keeps_both_ends(kind: Any) -> None:
    table = normal(9, 4)
    made = interpolated(table, 50, kind=kind)
    assert torch.equal(made[[0, -1]], table[[0, -1]])


@pytest.mark.parametrize("make", [tiled, hierarchical])
def test_old_positions_stay_bit_for_bit(make: Callable[[Tensor, int], Tensor]) -> None:
    table = normal(11, 6).to(torch.bfloat16)
    assert torch.equal(make(table, 64)[:11], table)


@pytest.mark.parametrize("kind", ["linear", "cubic"])
def test_kept_positions_stay_and_the_tail_ends_where_it_ended(kind: Any) -> None:
    table = normal(12, 4)
    made = keep_first(table, 41, keep=5, kind=kind)
    assert torch.equal(made[:6], table[:6])
    assert torch.equal(made[-1], table[-1])
    assert torch.equal(made[5:], interpolated(table[5:], 36, kind=kind))


def test_two_digits_name_each_position_once() -> None:
    made = hierarchical(normal(5, 8), 25)
    assert len(torch.unique(made, dim=0)) == 25


@pytest.mark.parametrize("way", WAYS)
def test_sums_are_rounded_once(way: str) -> None:
    make = WAYS[way][0]
    table = normal(8, 5).to(torch.bfloat16)
    made = make(table, 30)
    assert made.dtype == torch.bfloat16
    assert torch.equal(made, make(table.double(), 30).to(torch.bfloat16))


@pytest.mark.parametrize("way", WAYS)
def test_the_layout_in_memory_changes_nothing(way: str) -> None:
    make = WAYS[way][0]
    table = normal(6, 9).T[1:, ::2]
    assert not table.is_contiguous()
    assert torch.equal(make(table, 13), make(table.contiguous(), 13))


def test_blocks_of_rows_are_joined_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    table = normal(7, 3)
    whole = interpolated(table, 20)
    monkeypatch.setattr("gnomon.extending.tables.stencil.BLOCK", 10)
    assert torch.equal(interpolated(table, 20), whole)


@pytest.mark.parametrize("way", WAYS)
def test_averages_of_a_constant_stay_that_constant_and_none_is_negative(way: str) -> None:
    stencils = {
        "linear": interpolating.stretching(8, 30, "linear"),
        "cubic": interpolating.stretching(8, 30, "cubic"),
        "tile": tiling.repeating(8, 30),
        "keep": keeping.keeping(8, 30, 3, "cubic"),
    }
    averages = stencils.get(way, hierarchy.decomposing(8, 30, 0.4)).averages()
    assert (averages.weights >= 0).all()
    torch.testing.assert_close(averages.rows(torch.full((8, 2), 0.25)), torch.full((30, 2), 0.25))


def test_reserved_rows_before_the_positions_stay() -> None:
    table = normal(9, 3)
    made = tiling.repeating(7, 20).after(2).rows(table)
    assert torch.equal(made, torch.cat((table[:2], tiled(table[2:], 20))))


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: interpolated(normal(8, 2), 8), "can only become longer"),
        (lambda: tiled(normal(8, 2), 5), "can only become longer"),
        (lambda: interpolated(normal(8, 2), 9.5), "got to=9.5"),  # type: ignore[arg-type]
        (lambda: interpolated(normal(1, 2), 9), "from 2 positions"),
        (lambda: interpolated(torch.arange(8).reshape(4, 2), 9), "of floats"),
        (lambda: interpolated(normal(8, 2), 9, kind="spline"), "linear or cubic"),  # type: ignore[arg-type]
        (lambda: keep_first(normal(8, 2), 20, keep=7), "0 to 6 can be kept"),
        (lambda: keep_first(normal(8, 2), 20, keep=-1), "0 to 6 can be kept"),
        (lambda: hierarchical(normal(4, 2), 17), "name 16 positions"),
        (lambda: hierarchical(normal(4, 2), 9, alpha=0.5), "is not 1/2"),
        (lambda: hierarchical(normal(4, 2), 9, alpha=float("nan")), "between 0 and 1"),
    ],
)
def test_what_cannot_be_is_said_in_a_sentence(call: Callable[[], Any], said: str) -> None:
    with pytest.raises(GnomonError, match=said):
        call()


def test_a_stencil_reads_any_rows() -> None:
    stencil = Stencil(torch.tensor([[2, 0], [1, 1]]), torch.tensor([[2.0, -1.0], [0.5, 0.5]], dtype=torch.float64))
    assert stencil.rows(torch.tensor([[1.0], [5.0], [3.0]])).tolist() == [[5.0], [5.0]]
