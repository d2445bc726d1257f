"""Rows of the table by position, looked up inside the compiled rotation."""

import pytest
import torch

from gnomon.errors import PositionError
from gnomon.kernels import native
from tests.helpers.native_rotation import angles, by_formula, level, levels, needs_kernel, random, rotated

pytestmark = needs_kernel


def drawn(rows: int, length: int) -> torch.Tensor:
    return torch.randint(40, (rows, length), generator=torch.Generator().manual_seed(4))


@pytest.mark.parametrize("interleaved", [False, True])
@pytest.mark.parametrize("rows", [1, 3])
def test_each_token_turns_by_the_row_of_its_position(rows: int, interleaved: bool) -> None:
    x, (cos, sin), positions = random(3, 2, 35, 12), angles(40, 5), drawn(rows, 35)
    exact = by_formula(x, cos, sin, positions, interleaved=interleaved)
    for name in levels():
        with level(name):
            result = rotated(x, cos, sin, positions, interleaved=interleaved)
        torch.testing.assert_close(result.double(), exact, rtol=0, atol=2e-6)


def test_positions_may_have_any_strides() -> None:
    x, (cos, sin), positions = random(3, 2, 7, 12), angles(40, 6), drawn(3, 7)
    plain = rotated(x, cos, sin, positions, interleaved=False)
    spread = torch.stack((positions, positions + 1000), dim=-1)[..., 0]
    for strided in (spread, positions.T.contiguous().T, positions.flip(1).flip(1)):
        assert torch.equal(rotated(x, cos, sin, strided, interleaved=False), plain)
    shared = positions[:1].expand(3, 7)
    assert torch.equal(
        rotated(x, cos, sin, shared, interleaved=False), rotated(x, cos, sin, positions[:1], interleaved=False)
    )


def test_positions_of_a_whole_number_of_rows_share_them_or_have_their_own() -> None:
    x, (cos, sin) = random(2, 2, 5, 8), angles(2, 5, 4)
    torch.testing.assert_close(
        rotated(x, cos, sin, interleaved=False).double(), by_formula(x, cos, sin, interleaved=False)
    )
    assert torch.equal(rotated(x, cos[:1], sin[:1], interleaved=False), rotated(x, cos[0], sin[0], interleaved=False))


@pytest.mark.parametrize("wrong", [40, 41, 2**31, 2**62])
@pytest.mark.parametrize("place", [(0, 0), (0, 33), (2, 34)])
def test_a_position_without_a_row_is_returned_and_nothing_is_written(place: tuple[int, int], wrong: int) -> None:
    x, (cos, sin), positions = random(3, 2, 35, 8), angles(40, 4), drawn(3, 35)
    positions[place] = wrong
    before = x.clone()
    assert native.rotate(((x, x),), cos, sin, positions, False, 1.0, 2) == wrong
    assert torch.equal(x, before)


def test_the_first_of_two_wrong_positions_is_returned() -> None:
    x, (cos, sin), positions = random(2, 2, 5, 8), angles(40, 4), drawn(2, 5)
    positions[1, 0], positions[0, 4] = 77, 99
    assert native.rotate(((x, x),), cos, sin, positions, False, 1.0, 1) == 99


@pytest.mark.parametrize("wrong", [-1, -2, -(2**62)])
def test_a_negative_position_is_an_error_and_nothing_is_written(wrong: int) -> None:
    x, (cos, sin), positions = random(2, 2, 5, 8), angles(40, 4), drawn(2, 5)
    positions[1, 2] = wrong
    before = x.clone()
    with pytest.raises(PositionError, match=f"count from 0, got {wrong}"):
        native.rotate(((x, x),), cos, sin, positions, False, 1.0, 1)
    assert torch.equal(x, before)


def test_a_table_without_rows_has_no_position() -> None:
    x = random(1, 1, 1, 8)
    nothing = torch.empty(0, 4)
    assert native.rotate(((x, x),), nothing, nothing, torch.zeros(1, 1, dtype=torch.int64), False, 1.0, 1) == 0
