"""The factors that llama.cpp multiplies and divides by under YaRN, before and after the kernel's own is cancelled."""

import math

import pytest

from gnomon.resolving.readers.llama_cpp.magnitudes import Factors, cancelled, multiplied
from gnomon.resolving.stopping import StackStops


@pytest.mark.parametrize(
    ("given", "internal", "turned"),
    [
        (Factors("qwen2", 4.0, True), 1.0, 1.138629),
        (Factors("qwen2", 4.0, True, own=7.0), 1.0, 1.138629),
        (Factors("qwen2", 4.0, True, multiplier=0.1), 1.0, 1.138629),
        (Factors("qwen2", 4.0, False, own=7.0), 7.0, 7.0),
        (Factors("deepseek2", 40.0, True, multiplier=0.1), 0.730520, 1.0),
        (Factors("deepseek2", 40.0, True, multiplier=0.0707), 0.730520, 1.0),
        (Factors("deepseek2", 40.0, True), 1.0, 1.368888),
        (Factors("mistral3", 16.0, True, multiplier=0.5), 1 / (1 + 0.05 * math.log(16)), 1.277259 / 1.138629),
    ],
)
def test_the_context_takes_out_what_the_kernel_puts_in(given: Factors, internal: float, turned: float) -> None:
    found = cancelled(given)
    assert (found.internal, found.turned) == pytest.approx((internal, turned), abs=2e-6)


@pytest.mark.parametrize(
    ("given", "turned", "softmax"),
    [
        (Factors("qwen2", 4.0, True), 1.138629, 1.0),
        (Factors("grok", 4.0, True, own=1.138629), 1.296477, 1.0),
        (Factors("grok", 4.0, False, own=1.5, extra=2.0), 3.0, 1.0),
        (Factors("deepseek2", 40.0, True, multiplier=0.1), 1.0, 1.873854),
        (Factors("mistral3", 16.0, True, multiplier=1.0), 1.277259, 1.0),
    ],
)
def test_before_that_the_kernels_factor_came_on_top(given: Factors, turned: float, softmax: float) -> None:
    found = multiplied(given)
    assert (found.turned, found.softmax) == pytest.approx((turned, softmax), abs=2e-6)


def test_the_logits_of_deepseek_are_those_of_its_own_code() -> None:
    """(0.1 k ln(s) + 1)^2 in all, wherever it is put."""
    for multiplier, all_dim in ((0.1, 1.0), (0.0707, 0.707)):
        given = Factors("deepseek2", 40.0, True, multiplier=multiplier)
        for found in (cancelled(given), multiplied(given)):
            whole = found.turned**2 * found.softmax
            assert whole == pytest.approx((0.1 * all_dim * math.log(40) + 1) ** 2)


@pytest.mark.parametrize("factor", [0.0, -2.0, math.nan])
def test_a_factor_without_a_logarithm_stops(factor: float) -> None:
    with pytest.raises(StackStops, match="no logarithm"):
        Factors("qwen2", factor, True)
