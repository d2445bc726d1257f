"""The rotation of pairs and its angles, against complex numbers and exact arithmetic."""

import cmath
import math
from decimal import Decimal, getcontext

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gnomon.errors import ShapeError
from gnomon.kernels.rotation import Layout, angles, join_pairs, rotate, split_pairs

LAYOUTS: tuple[Layout, ...] = ("half", "interleaved")
PAIRS = {"half": lambda i, pairs: (i, i + pairs), "interleaved": lambda i, pairs: (2 * i, 2 * i + 1)}
TWO_PI = Decimal("6.28318530717958647692528676655900576839433879875021")


def random(*shape: int, dtype: torch.dtype = torch.float64) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(0), dtype=dtype)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("width", [6, 10])
def test_each_pair_turns_as_a_complex_number_does(layout: Layout, width: int) -> None:
    x, angle = random(2, 3, 5, 10), random(2, 1, 5, width // 2) * 3
    turned = rotate(x, angle.cos(), angle.sin(), layout=layout)
    for i in range(width // 2):
        a, b = PAIRS[layout](i, width // 2)
        for row, head, token in ((0, 0, 0), (1, 2, 4), (0, 1, 3)):
            before = complex(x[row, head, token, a].item(), x[row, head, token, b].item())
            after = before * cmath.exp(1j * angle[row, 0, token, i].item())
            assert turned[row, head, token, a].item() == pytest.approx(after.real, abs=1e-12)
            assert turned[row, head, token, b].item() == pytest.approx(after.imag, abs=1e-12)
    assert torch.equal(turned[..., width:], x[..., width:])


def test_the_layouts_are_one_permutation_of_columns_apart() -> None:
    x, angle = random(1, 2, 4, 8), random(1, 1, 4, 4)
    half_from_interleaved = [0, 2, 4, 6, 1, 3, 5, 7]
    interleaved = rotate(x, angle.cos(), angle.sin(), layout="interleaved")
    half = rotate(x[..., half_from_interleaved], angle.cos(), angle.sin(), layout="half")
    torch.testing.assert_close(half, interleaved[..., half_from_interleaved])


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_gradient_is_right(layout: Layout) -> None:
    x, angle = random(1, 2, 3, 5).requires_grad_(), random(1, 1, 3, 2).requires_grad_()
    assert torch.autograd.gradcheck(lambda x, angle: rotate(x, angle.cos(), angle.sin(), layout=layout), (x, angle))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_low_precision_is_rounded_once_and_the_input_stays(layout: Layout) -> None:
    x = random(2, 3, 4, 6).to(torch.bfloat16)
    before, angle = x.clone(), random(2, 1, 4, 3).float()
    turned = rotate(x, angle.cos(), angle.sin(), layout=layout)
    exact = rotate(x.float(), angle.cos(), angle.sin(), layout=layout)
    assert turned.dtype == torch.bfloat16
    assert torch.equal(turned, exact.to(torch.bfloat16))
    assert torch.equal(x, before)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_pairs_join_to_what_they_were_split_from(layout: Layout) -> None:
    x = random(2, 3, 8)
    assert torch.equal(join_pairs(*split_pairs(x, layout=layout), layout=layout), x)


def test_more_angles_than_columns_is_an_error_that_names_both() -> None:
    cos = torch.ones(1, 1, 4, 5)
    with pytest.raises(ShapeError, match="turn 10 columns but the vectors have 8"):
        rotate(torch.ones(1, 1, 4, 8), cos, cos, layout="half")


@given(st.integers(-(10**7), 10**7), st.floats(1e-6, 1.0))
def test_angles_are_good_to_the_last_bits_of_float32(position: int, frequency: float) -> None:
    getcontext().prec = 50
    exact = float(Decimal(position) * Decimal(frequency) % TWO_PI)
    [[angle]] = angles(torch.tensor([position]), torch.tensor([frequency], dtype=torch.float64)).tolist()
    # Distances on the circle: 0 and 2 pi are one angle.
    assert abs(math.remainder(angle - exact, 2 * math.pi)) < 5e-7


def test_angles_have_one_row_for_each_position_in_every_batch_row() -> None:
    positions = torch.tensor([[0, 1, 2], [7, 5, 3]])
    result = angles(positions, torch.tensor([1.0, 0.5], dtype=torch.float64))
    assert result.shape == (2, 3, 2)
    assert result.dtype == torch.float32
    assert result[1, 1].tolist() == [5.0, 2.5]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.usefixtures("unchecked")
def test_rotation_traces_into_one_graph(layout: Layout) -> None:
    def turn(x: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        angle = angles(positions, torch.tensor([1.0, 0.01], dtype=torch.float64)).unsqueeze(1)
        return rotate(x, angle.cos(), angle.sin(), layout=layout)

    x, positions = random(2, 3, 4, 5).float(), torch.arange(4)[None] + 9
    traced = torch.compile(turn, fullgraph=True, backend="eager")(x, positions)
    torch.testing.assert_close(traced, turn(x, positions))
