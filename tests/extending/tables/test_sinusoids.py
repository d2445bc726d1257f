"""Which tables are formulas, and how far their continuation is from the formula."""

import math

import pytest
import torch
from torch import Tensor

from gnomon.encodings.sinusoidal import Sinusoidal, reference, reference_endpoint, reference_half
from gnomon.extending.tables.sinusoids import formula_of, grid_formula_of
from tests.helpers.weights import normal

SCALARS = {"interleaved": reference, "half": reference_half, "endpoint": reference_endpoint}


def scalar(kind: str, rows: int, width: int, start: int = 0) -> Tensor:
    values = [[SCALARS[kind](start + p, c, width) for c in range(width)] for p in range(rows)]
    return torch.tensor(values, dtype=torch.float64)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("kind", SCALARS)
def test_a_table_goes_on_with_its_own_formula(kind: str, dtype: torch.dtype) -> None:
    table = scalar(kind, 40, 12).to(dtype)
    formula = formula_of(table)
    assert formula is not None
    made = formula.continued(table, 300)
    assert made.dtype == dtype
    assert torch.equal(made[:40], table)
    expected = scalar(kind, 300, 12)[40:].to(dtype).double()
    torch.testing.assert_close(made[40:].double(), expected, rtol=0, atol=torch.finfo(dtype).eps)


def test_frequencies_that_were_rounded_to_float32_are_the_formula_still() -> None:
    """Whisper and fairseq multiply float32 positions by float32 frequencies: the last rows are off by 1e-4."""
    places, exponents = torch.arange(3000.0), torch.arange(6.0)
    angles = places[:, None] * torch.exp(-math.log(10000) / 5 * exponents)[None]
    assert formula_of(torch.cat((angles.sin(), angles.cos()), dim=1)) is not None


def test_the_row_of_the_padding_token_may_be_zeros() -> None:
    table = scalar("endpoint", 30, 8).float()
    table[1] = 0
    assert formula_of(table) is None
    formula = formula_of(table, padding_row=1)
    assert formula is not None
    assert not formula.rows(5)[1].any()


def test_another_base_scale_and_first_position_are_read_from_the_numbers() -> None:
    table = 0.25 * Sinusoidal(16, base=500.0, layout="half").table(torch.arange(3, 60), dtype=torch.float64)
    formula = formula_of(table)
    assert formula is not None
    expected = 0.25 * Sinusoidal(16, base=500.0, layout="half").table(torch.arange(3, 203), dtype=torch.float64)
    torch.testing.assert_close(formula.rows(200), expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("row", [0, 17, 39])
def test_one_trained_row_makes_a_table_a_learned_one(row: int) -> None:
    table = scalar("interleaved", 40, 12).float()
    table[row] += 0.01 * normal(12)
    assert formula_of(table) is None


def test_random_numbers_and_constants_are_no_formula() -> None:
    assert formula_of(normal(64, 16)) is None
    assert formula_of(torch.zeros(64, 16)) is None
    assert formula_of(normal(4, 16)) is None
    assert grid_formula_of(normal(13, 16), (3, 4), 1) is None
