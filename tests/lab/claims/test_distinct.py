"""Claim 4."""

import math

import pytest

from tests.helpers.claims import measure, verdict


def kept_apart_in_bfloat16(count: int) -> int:
    """Eight bits of precision: from 2^k on, k >= 8, ids are kept in steps of 2^(k-7), ties to the even one."""

    def rounded(number: int) -> int:
        step = 1 if number < 256 else 2 ** (int(math.log2(number)) - 7)
        return round(number / step) * step

    return len({rounded(number) for number in range(count)})


def test_vectors_differ_and_ids_in_bfloat16_do_not() -> None:
    numbers = measure(4)
    assert [numbers[name] for name in ("sinusoidal", "sinusoidal far out", "learned")] == [4096.0] * 3
    assert numbers["ids in bfloat16"] == kept_apart_in_bfloat16(4096) == 769
    neighbours = [10000 ** (-2 * i / 64) for i in range(32)]
    apart = math.sqrt(sum(2 - 2 * math.cos(frequency) for frequency in neighbours))
    assert numbers["nearest sinusoids"] == pytest.approx(apart, abs=1e-4)
    assert verdict(4, numbers) == "holds"


def test_a_vector_that_two_positions_share_fails() -> None:
    assert verdict(4, {**measure(4), "learned": 4095.0}) == "fails"
