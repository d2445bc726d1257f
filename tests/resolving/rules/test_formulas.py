"""The formulas of the stacks against golden numbers of float64 sums, and against gnomon's own rules for building."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.encodings.frequencies.dynamic import DynamicNTK
from gnomon.encodings.frequencies.linear import Linear
from gnomon.encodings.frequencies.llama3 import Llama3
from gnomon.encodings.frequencies.yarn import YaRN
from gnomon.resolving.rules import formulas
from gnomon.resolving.stopping import StackStops

#: c(32) and c(1) of YaRN for (width, base, length): d ln(L / (2 pi turns)) / (2 ln b), worked out apart in float64
RAMP_ENDS = {
    (128, 1e6, 32768): (23.595948, 39.650881),
    (128, 1e6, 40960): (24.629654, 40.684588),
    (128, 1e6, 131072): (30.017921, 46.072854),
    (64, 1e4, 4096): (10.472241, 22.513441),
    (64, 1.5e5, 4096): (8.092779, 17.398025),
    (128, 5e5, 8192): (18.081135, 34.984119),
}
#: gpt-oss: width 64, base 150000, factor 32, length 4096
GPT_OSS = {
    False: {8: 1, 9: 0.905551, 12: 0.593227, 13: 0.489119, 16: 0.176795, 17: 0.072688, 18: 0.03125},
    True: {8: 1, 9: 0.903125, 12: 0.6125, 13: 0.515625, 16: 0.225, 17: 0.128125, 18: 0.03125},
}


@pytest.mark.parametrize(("numbers", "ends"), RAMP_ENDS.items())
def test_the_ends_of_yarns_ramp(numbers: tuple[int, float, int], ends: tuple[float, float]) -> None:
    dim, base, length = numbers
    assert formulas.ramp_ends(base, dim, length, 32, 1) == pytest.approx(ends, abs=1e-6)


@pytest.mark.parametrize("rounded", [False, True])
def test_yarn_with_and_without_rounded_ends_on_gpt_oss(rounded: bool) -> None:
    plain = formulas.plain(1.5e5, 64)
    low, high = formulas.ramp_ends(1.5e5, 64, 4096, 32, 1)
    share = formulas.yarn(plain, 32, low, high, rounded=rounded, most=63) / plain
    for pair, expected in GPT_OSS[rounded].items():
        assert share[pair] == pytest.approx(expected, abs=5e-7)


def test_a_ramp_without_width_gets_the_narrowest() -> None:
    plain = formulas.plain(1e4, 8)
    assert formulas.yarn(plain, 2, 1, 1, rounded=True, most=7) == pytest.approx(plain / [1, 1, 2, 2])


def test_llama3_keeps_blends_and_divides() -> None:
    plain = formulas.plain(5e5, 128)
    share = formulas.llama3(plain, 8, 1, 4, 8192) / plain
    assert [share[28], share[35]] == pytest.approx([1, 0.125])
    blended = [0.828168, 0.643743, 0.493507, 0.371122, 0.271425, 0.190211]
    assert share[29:35] == pytest.approx(blended, abs=1e-6)


def test_llama3_with_equal_bands_blends_nothing() -> None:
    plain = formulas.plain(5e5, 128)
    share = formulas.llama3(plain, 16, 1, 1, 8192) / plain
    assert [int((share == 1).sum()), int((share == 1 / 16).sum())] == [35, 29]


@pytest.mark.parametrize(("length", "base"), [(3072, 30527.736749), (4096, 51293.787268), (8192, 135401.973042)])
def test_the_ntk_base_at_a_length(length: int, base: float) -> None:
    assert formulas.ntk_base(1e4, 4 * length / 2048 - 3, 128) == pytest.approx(base, rel=1e-10)


def test_hunyuans_alpha_and_a_negative_factor() -> None:
    assert formulas.ntk_base(1e4, 1000, 128) == pytest.approx(11158839.925, rel=1e-9)
    assert math.isnan(formulas.ntk_base(1e4, -0.5, 64))


def test_the_factors_on_cosine_and_sine() -> None:
    found = [formulas.magnitude(factor) for factor in (0.5, 1, 1.25, 4, 8, 16, 32, 40, 64)]
    golden = [1, 1, 1.022314, 1.138629, 1.207944, 1.277259, 1.346574, 1.368888, 1.415888]
    assert found == pytest.approx(golden, abs=1e-6)
    assert formulas.magnitude(40, 0.707) ** 2 == pytest.approx(1.589626, abs=1e-6)
    longer = [(131072, 4096), (131072, 8192), (131072, 32768), (32768, 4096), (65536, 32768), (4096, 4096)]
    ratios = [formulas.longrope_magnitude(most / original, original) for most, original in longer]
    assert ratios == pytest.approx([1.190238, 1.143544, 1.064581, 1.118034, 1.032796, 1], abs=1e-6)


def test_proportional_counts_exponents_over_the_whole_head() -> None:
    inverse = formulas.proportional(1e6, 512, 0.25)
    assert int((inverse != 0).sum()) == 64
    assert inverse[63] == pytest.approx(0.0333762469, rel=1e-8)


@given(
    dim=st.integers(2, 64).map(lambda half: 2 * half),
    base=st.floats(100, 1e7),
    factor=st.floats(1, 64),
    length=st.integers(64, 2**18),
)
@settings(max_examples=50, deadline=None)
def test_valid_numbers_give_what_the_rules_for_building_give(dim: int, base: float, factor: float, length: int) -> None:
    plain = formulas.plain(base, dim)
    assert plain / factor == pytest.approx(Linear(factor, base).inverse(dim))
    ours = formulas.llama3(plain, factor, 1, 4, length)
    assert ours == pytest.approx(Llama3(factor, length, base=base).inverse(dim))
    ends = formulas.ramp_ends(base, dim, length, 32, 1)
    for truncate in (True, False):
        ours = formulas.yarn(plain, factor, *ends, rounded=truncate, most=dim - 1)
        theirs = YaRN(factor, length, base=base, truncate=truncate)
        assert ours == pytest.approx(theirs.inverse(dim))
        assert formulas.magnitude(factor) == pytest.approx(theirs.attention_factor)
    grown = formulas.plain(formulas.ntk_base(base, 3 * factor - (factor - 1), dim), dim)
    assert grown == pytest.approx(DynamicNTK(factor, length, base).at_length(3 * length).inverse(dim))


@pytest.mark.parametrize(
    "stops",
    [
        lambda: formulas.plain(0.0, 64),
        lambda: formulas.plain(1e4, -2),
        lambda: formulas.plain(1e4, 10**9),
        lambda: formulas.ntk_base(1e4, 2.0, 2),
        lambda: formulas.ramp_ends(1.0, 64, 4096, 32, 1),
        lambda: formulas.ramp_ends(1e4, 64, 4096, 0, 1),
        lambda: formulas.divided(np.ones(4), [1.0, 2.0], "long_factor"),
        lambda: formulas.longrope_magnitude(4, 1),
    ],
)
def test_numbers_that_give_nothing_stop_the_stack(stops: "object") -> None:
    with pytest.raises(StackStops):
        stops()  # type: ignore[operator]
