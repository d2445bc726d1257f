"""Claims 5, 6, 7, 8 and 18, against arithmetic in plain floats."""

import math

import pytest

from tests.helpers.claims import measure, verdict


def sinusoid(position: int, width: int = 512) -> list[float]:
    angles = [position / 10000 ** (2 * i / width) for i in range(width // 2)]
    return [wave(angle) for angle in angles for wave in (math.sin, math.cos)]


def test_the_sum_of_two_vectors_is_far_from_the_vector_of_the_sum() -> None:
    ten, twenty, thirty = sinusoid(10), sinusoid(20), sinusoid(30)
    off = math.dist([a + b for a, b in zip(ten, twenty, strict=True)], thirty) / math.hypot(*thirty)
    numbers = measure(5)
    assert off == pytest.approx(1.33, abs=0.01)
    assert numbers["error for 10 and 20"] == pytest.approx(off, abs=1e-9)
    assert 0 < numbers["smallest error"] < off
    assert numbers["error of the rotation"] < 1e-9
    assert verdict(5, numbers) == "fails"


def test_a_sum_that_were_near_would_not_fail() -> None:
    near = {"error for 10 and 20": 0.05, "smallest error": 0.01, "error of the rotation": 1e-13}
    assert verdict(5, near) == "depends"


def test_the_formula_is_met_and_the_other_form_is_another_table() -> None:
    numbers = measure(6)
    assert max(numbers["error"], numbers["error of the other form"]) < 1e-9
    frequencies = [10000 ** (-i / 255) for i in range(256)]
    apart = max(
        abs(wave(p * other) - wave(p * 10000 ** (-2 * i / 512)))
        for p in (0, 1, 9, 100, 511)
        for i, other in enumerate(frequencies)
        for wave in (math.sin, math.cos)
    )
    assert numbers["between the forms"] == pytest.approx(apart, abs=1e-9)
    assert verdict(6, numbers) == "holds"
    assert verdict(6, {**numbers, "error": 0.1}) == "fails"


def test_frequencies_are_powers_of_the_base() -> None:
    numbers = measure(7)
    assert numbers == pytest.approx({"pair 128": 0.01, "pair 255": 10000 ** (-510 / 512)}, rel=1e-12)
    assert verdict(7, numbers) == "holds"
    assert verdict(7, {"pair 128": 0.02, "pair 255": 1e-4}) == "fails"


def test_position_zero_has_256_ones_and_its_sines_vanish() -> None:
    assert measure(8) == {"norm": pytest.approx(16.0), "norm of the sines": 0.0}
    assert verdict(8, measure(8)) == "holds"
    assert verdict(8, {"norm": 0.0, "norm of the sines": 0.0}) == "fails"


def test_the_norm_is_16_and_22_6_would_hold() -> None:
    numbers = measure(18)
    assert numbers["norm"] == pytest.approx(math.sqrt(512 / 2))
    assert numbers["spread"] < 1e-9
    assert verdict(18, numbers) == "fails"
    assert verdict(18, {"norm": math.sqrt(512), "spread": 0.0}) == "holds"
