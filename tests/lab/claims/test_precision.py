"""Claims 10 and 36."""

import math

import numpy as np
import pytest
import torch

from gnomon.lab.claims.precision import angle_error, exact_ids
from tests.helpers.claims import measure, verdict


def test_integers_are_exact_to_two_to_the_bits() -> None:
    assert exact_ids(torch.bfloat16) == 2**8
    assert exact_ids(torch.float16) == 2**11


def test_the_error_in_float32_is_that_of_numpy() -> None:
    ids, frequency = np.arange(20_000, 22_000), 10000 ** (-2 * np.arange(10) / 512)
    exact = np.sin(ids[:, None] * frequency)
    rounded = np.sin(ids[:, None].astype(np.float32) * frequency.astype(np.float32))
    expected = float(np.abs(rounded.astype(np.float64) - exact).max())
    assert angle_error(20_000, torch.float32, pairs=10) == pytest.approx(expected, rel=0.01)


def test_float32_stays_small_and_the_fastest_pair_is_exact_while_bfloat16_is_ruined() -> None:
    numbers = measure(10)
    assert numbers["float32 at 20 000, fastest"] < 1e-6
    assert numbers["float32 at 20 000, i < 10"] < 2e-3
    assert 1e-3 < numbers["float32 at 100 000"] < 1e-2 < numbers["float32 at 1 000 000"] < 0.1
    assert numbers["bfloat16 from 257"] > 1
    assert verdict(10, numbers) == "depends"


def test_far_positions_hold_and_fail_too() -> None:
    numbers = measure(10)
    assert verdict(10, {**numbers, "float32 at 20 000, i < 10": 0.5}) == "holds"
    assert verdict(10, {**numbers, "bfloat16 from 257": 1e-4}) == "fails"


def test_a_finished_table_loses_half_a_unit_in_the_last_place() -> None:
    numbers = measure(36)
    assert numbers["stored float16"] <= 1.001 * 2.0**-12
    assert numbers["stored bfloat16"] <= 1.001 * 2.0**-9
    assert numbers["stored bfloat16"] > 2.0**-10
    assert min(numbers["computed float16"], numbers["computed bfloat16"]) > 0.5
    assert verdict(36, numbers) == "depends"


def test_half_precision_holds_and_fails_too() -> None:
    small = dict.fromkeys(("stored float16", "stored bfloat16", "computed float16", "computed bfloat16"), 1e-3)
    assert verdict(36, small) == "holds"
    assert verdict(36, {**small, "stored bfloat16": 0.1}) == "fails"
    assert not math.isnan(measure(36)["computed float16"])
