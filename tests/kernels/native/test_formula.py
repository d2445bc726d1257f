"""The compiled rotation against the formula in scalars and float64, and against the eager form, bit by bit."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from gnomon.kernels.rotation import rotate
from tests.helpers.native_rotation import DTYPES, angles, by_formula, level, levels, needs_kernel, random, rotated

pytestmark = needs_kernel

#: Half a unit in the last place at 1, and the noise of two float32 products and a sum of numbers up to about 8.
HALF_ULP = {torch.float32: 0.0, torch.bfloat16: 2.0**-9, torch.float16: 2.0**-12}
NOISE = 2.0**-20


def within_one_rounding(result: Tensor, exact: Tensor) -> bool:
    scale = torch.exp2(exact.abs().clamp(min=2.0**-14).log2().floor())  # the binade of each number
    return bool(((result.double() - exact).abs() <= 2 * scale * HALF_ULP[result.dtype] + NOISE).all())


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("interleaved", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("pairs", "rest"), [(1, 0), (3, 1), (21, 3), (32, 0)])
def test_each_number_is_the_formulas_rounded_once(
    pairs: int, rest: int, dtype: torch.dtype, interleaved: bool, sign: float
) -> None:
    x, (cos, sin) = random(2, 2, 3, 2 * pairs + rest, dtype=dtype), angles(2, 3, pairs)
    exact = by_formula(x, cos, sin, interleaved=interleaved, sign=sign)
    for name in levels():
        with level(name):
            result = rotated(x, cos, sin, interleaved=interleaved, sign=sign)
        assert within_one_rounding(result, exact)
        assert torch.equal(result[..., 2 * pairs :], x[..., 2 * pairs :])


def test_the_error_of_bfloat16_is_that_of_one_rounding() -> None:
    x, (cos, sin) = random(1, 8, 200, 128, dtype=torch.bfloat16), angles(200, 64)
    exact = rotate(x.double(), cos.double(), sin.double(), layout="half")
    assert (rotated(x, cos, sin, interleaved=False).double() - exact).abs().max() <= 0.0157


@given(
    dtype=st.sampled_from(DTYPES),
    interleaved=st.booleans(),
    pairs=st.integers(1, 70),
    rest=st.integers(0, 5),
    sizes=st.tuples(st.integers(1, 3), st.integers(1, 3), st.integers(1, 40)),
    seed=st.integers(0, 99),
)
def test_every_level_equals_the_eager_form_bit_by_bit(
    dtype: torch.dtype, interleaved: bool, pairs: int, rest: int, sizes: tuple[int, int, int], seed: int
) -> None:
    batch, heads, length = sizes
    x, (cos, sin) = random(batch, heads, length, 2 * pairs + rest, dtype=dtype, seed=seed), angles(length, pairs)
    eager = rotate(x, cos, sin, layout="interleaved" if interleaved else "half")
    for name in levels():
        with level(name):
            assert torch.equal(rotated(x, cos, sin, interleaved=interleaved), eager)


@pytest.mark.parametrize("interleaved", [False, True])
@pytest.mark.parametrize("name", levels())
def test_many_pairs_go_in_several_parts(name: str, interleaved: bool) -> None:
    x, (cos, sin) = random(1, 2, 3, 2 * 4500 + 1), angles(3, 4500)
    eager = rotate(x, cos, sin, layout="interleaved" if interleaved else "half")
    with level(name):
        assert torch.equal(rotated(x, cos, sin, interleaved=interleaved), eager)


def test_turning_back_undoes_turning() -> None:
    x, (cos, sin) = random(2, 3, 5, 12), angles(5, 6)
    there = rotated(x, cos, sin, interleaved=True)
    torch.testing.assert_close(rotated(there, cos, sin, interleaved=True, sign=-1.0), x)
