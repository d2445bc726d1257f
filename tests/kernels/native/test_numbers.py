"""Rounding, infinities, NaN and subnormal numbers of every dtype, on every instruction set."""

import math

import pytest
import torch
from torch import Tensor

from tests.helpers.native_rotation import DTYPES, level, levels, needs_kernel, rotated

pytestmark = needs_kernel

LOW = (torch.bfloat16, torch.float16)


def all_numbers(dtype: torch.dtype) -> Tensor:
    """Every number of a 16-bit dtype, as one token of width 65536."""
    return torch.arange(-(2**15), 2**15, dtype=torch.int32).to(torch.int16).view(dtype).reshape(1, 1, 1, -1)


@pytest.mark.parametrize("interleaved", [False, True])
@pytest.mark.parametrize("dtype", LOW)
@pytest.mark.parametrize("name", levels())
def test_no_turn_keeps_every_number_of_the_dtype(name: str, dtype: torch.dtype, interleaved: bool) -> None:
    x = all_numbers(dtype).reshape(1, 1, 256, 256)
    x = torch.where(x.isinf(), 0, x)  # infinity times zero is not a number
    cos, sin = torch.ones(256, 128), torch.zeros(256, 128)
    with level(name):
        result = rotated(x.nan_to_num(0.0), cos, sin, interleaved=interleaved)
    assert torch.equal(result, x.nan_to_num(0.0))


@pytest.mark.parametrize("dtype", LOW)
@pytest.mark.parametrize("name", levels())
def test_products_round_to_the_nearest_and_to_even_as_torch_rounds(name: str, dtype: torch.dtype) -> None:
    finite = all_numbers(dtype).reshape(1, 1, 256, 256).nan_to_num(0.0, 0.0, 0.0)
    zero = torch.zeros(256, 128)
    for factor in (1.5, 1.0 + 2.0**-8, 0.75, 2.0**-6 * 1.25, 3.0e4):  # many ties, subnormal numbers, overflow
        with level(name):
            result = rotated(finite, zero + factor, zero, interleaved=False)
        assert torch.equal(result, (finite.double() * torch.tensor(factor).double()).to(dtype))


@pytest.mark.parametrize("interleaved", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", levels())
def test_not_a_number_and_infinity_reach_their_own_pair_only(name: str, dtype: torch.dtype, interleaved: bool) -> None:
    pairs = 37
    for value in (math.nan, math.inf, -math.inf):
        for hit in (0, 5, 30, 36):
            first, second = (2 * hit, 2 * hit + 1) if interleaved else (hit, hit + pairs)
            x = torch.ones(1, 1, 1, 2 * pairs, dtype=dtype)
            x[..., first] = value
            with level(name):
                result = rotated(x, torch.full((1, pairs), 0.5), torch.full((1, pairs), 0.25), interleaved=interleaved)
            assert result[0, 0, 0, [first, second]].isnan().all() == math.isnan(value)
            assert (result[0, 0, 0, [first, second]] == value).all() == (not math.isnan(value))
            result[..., [first, second]] = 0
            assert result.isfinite().all()


@pytest.mark.parametrize("interleaved", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", levels())
def test_any_not_a_number_in_the_table_makes_its_pair_not_a_number(
    name: str, dtype: torch.dtype, interleaved: bool
) -> None:
    patterns = torch.tensor([0x7FC00000, 0x7FFFFFFF, 0x7F800001, -1, -0x400000], dtype=torch.int32).view(torch.float32)
    for value in patterns:
        cos = torch.ones(1, 37)
        cos[0, ::3] = value
        with level(name):
            result = rotated(torch.ones(1, 1, 1, 74, dtype=dtype), cos, cos * 0 + 0.5, interleaved=interleaved)
        columns = result.view(37, 2) if interleaved else result.view(2, 37).T
        assert columns[::3].isnan().all()
        assert columns[1::3].isfinite().all()
        assert columns[2::3].isfinite().all()


@pytest.mark.parametrize("name", levels())
def test_float16_overflows_to_infinity_at_the_right_number(name: str) -> None:
    x = torch.tensor([65504.0, 65504.0, -65504.0, 1.0]).to(torch.float16).reshape(1, 1, 1, 4)
    factor = torch.tensor([[65519.0 / 65504.0, 65520.0 / 65504.0]])
    with level(name):
        result = rotated(x, factor, factor * 0, interleaved=False).flatten().tolist()
    assert result == [65504.0, math.inf, -65504.0, 1.0]
