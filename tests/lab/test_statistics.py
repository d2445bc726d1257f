"""Intervals and rankings against scipy.stats, hand arithmetic and simulation."""

import math

import numpy as np
import pytest
from scipy import stats

from gnomon.errors import GnomonError
from gnomon.lab.statistics import compare, interval, ranking, rankings, spread, undecided
from gnomon.lab.suites.base import Pair
from gnomon.report.lab.results import MeasureInfo
from gnomon.report.lab.study import Comparison
from tests.helpers.made_up_study import Numbers, evidence

A_B = Pair("copy", "loss", None, "a", "b")


def compared(a: list[float | None], b: list[float | None], confidence: float = 0.95) -> Comparison | None:
    return compare(evidence({"loss": {"a": a, "b": b}}), A_B, confidence)


def test_three_seeds_by_hand() -> None:
    # Differences 1, 2 and 6: mean 3, deviations -2, -1 and 3, variance (4 + 1 + 9) / 2 = 7, standard error
    # sqrt(7 / 3) = 1.527525; t of two degrees of freedom at 97.5 % is 4.302653 (in any printed table): reach 6.572412.
    seen = compared([2.0, 4.0, 9.0], [1.0, 2.0, 3.0])
    assert seen is not None
    assert (seen.difference, seen.seeds) == (3.0, 3)
    assert seen.low == pytest.approx(3 - 6.572412, abs=1e-5)
    assert seen.high == pytest.approx(3 + 6.572412, abs=1e-5)
    assert not seen.decided


@pytest.mark.parametrize("seeds", [2, 3, 5, 11])
@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.99])
def test_the_interval_is_that_of_scipy(seeds: int, confidence: float) -> None:
    generator = np.random.default_rng(seeds)
    a, b = generator.normal(2.0, 1.0, seeds), generator.normal(0.5, 3.0, seeds)
    seen = compared(list(a), list(b), confidence)
    expected = stats.ttest_rel(a, b).confidence_interval(confidence)
    assert seen is not None
    assert (seen.low, seen.high) == pytest.approx((expected.low, expected.high), rel=1e-10)
    assert seen.difference == pytest.approx((a - b).mean(), rel=1e-12)


def test_only_seeds_that_both_have_are_compared() -> None:
    seen = compared([1.0, None, 3.0, 100.0], [0.0, 50.0, 0.0, None])
    assert seen is not None
    assert (seen.seeds, seen.difference) == (2, 2.0)
    # Differences 1 and 3: standard error 1, t of one degree of freedom is tan(0.475 pi).
    assert seen.high == pytest.approx(2 + math.tan(0.475 * math.pi), rel=1e-9)


def test_no_seed_in_common_is_no_comparison() -> None:
    assert compared([1.0, None], [None, 2.0]) is None
    assert compare(evidence({"loss": {"a": [1.0]}}), A_B) is None


def test_one_seed_has_a_difference_and_no_interval() -> None:
    seen = compared([1.0], [3.0])
    assert seen == Comparison("copy", "loss", None, "a", "b", 1, -2.0, None, None)
    assert seen is not None
    assert not seen.decided


def test_equal_differences_have_an_interval_without_width_even_when_they_differ_by_rounding() -> None:
    seen = compared([0.3, 0.2, 0.9], [0.1, 0.0, 0.7])  # 0.19999999999999998, 0.2, 0.20000000000000007
    assert seen is not None
    assert seen.low == seen.high == seen.difference == pytest.approx(0.2)
    assert seen.decided


def test_equal_numbers_show_no_difference() -> None:
    seen = compared([0.1, 0.2, 0.7], [0.1, 0.2, 0.7])
    assert seen is not None
    assert (seen.difference, seen.low, seen.high, seen.decided) == (0.0, 0.0, 0.0, False)


def test_ninety_five_of_a_hundred_intervals_hold_the_true_difference() -> None:
    generator = np.random.default_rng(7)
    drawn = generator.normal(0.7, 2.0, (4000, 3))
    held = 0
    for row in drawn.tolist():
        low, high = interval(row)
        held += low is not None and high is not None and low <= 0.7 <= high
    # The count is binomial: 3800 expected, standard deviation sqrt(4000 0.95 0.05) = 13.8.
    assert abs(held - 3800) < 4 * 13.8


@pytest.mark.parametrize("confidence", [0.0, 1.0, 95.0, math.nan])
def test_a_confidence_outside_zero_to_one_is_refused(confidence: float) -> None:
    with pytest.raises(GnomonError, match="between 0 and 1"):
        interval([1.0, 2.0], confidence)


def test_the_spread_by_hand() -> None:
    seen = spread({0: 1.0, 4: 2.0, 7: 6.0})
    assert (seen.mean, seen.low, seen.high, seen.seeds) == (3.0, 1.0, 6.0, 3)
    assert seen.sd == pytest.approx(math.sqrt(7))
    assert spread({3: 5.0}).sd is None
    with pytest.raises(GnomonError, match="at least 1 seed"):
        spread({})


def test_a_ranking_needs_three_seeds_in_common() -> None:
    two = evidence({"loss": {"a": [1.0, 2.0, None], "b": [2.0, 3.0, 4.0]}})
    assert ranking(two, "copy", "loss", None, "lower") is None
    alone = evidence({"loss": {"a": [1.0, 2.0, 3.0]}})
    assert ranking(alone, "copy", "loss", None, "lower") is None


def test_a_ranking_orders_by_the_mean_of_common_seeds_from_the_better_end() -> None:
    seen = evidence({"loss": {"a": [1.0, 1.0, 1.0, 90.0], "b": [2.0, 2.1, 2.2, None], "c": [None] * 4, "d": [0.0] * 4}})
    lower = ranking(seen, "copy", "loss", None, "lower")
    higher = ranking(seen, "copy", "loss", None, "higher")
    assert lower is not None
    assert higher is not None
    assert lower.names == ("d", "a", "b")  # c was not measured and is left out
    assert list(lower.means) == pytest.approx([0.0, 1.0, 2.1])
    assert higher.names == ("b", "a", "d")
    assert lower.seeds == 3


def holm(p_values: list[float], level: float) -> list[bool]:
    """Holm's decisions from adjusted p values: a second way to the same answer."""
    order = np.argsort(p_values)
    adjusted = np.maximum.accumulate([(len(order) - i) * p_values[k] for i, k in enumerate(order)])
    rejected = np.empty(len(order), bool)
    rejected[order] = adjusted <= level
    return [bool(one) for one in rejected]


def test_ties_are_those_that_holms_method_leaves() -> None:
    pairs = [("a", "b"), ("a", "c"), ("a", "d"), ("b", "c"), ("b", "d"), ("c", "d")]
    counts = set()
    for seed in range(60):
        drawn = np.random.default_rng(seed).normal(0, 0.4, (4, 4)) + np.array([[0.0], [0.1], [0.7], [2.0]])
        values = dict(zip("abcd", drawn, strict=True))
        rejected = holm([float(stats.ttest_rel(values[a], values[b]).pvalue) for a, b in pairs], 0.05)
        expected = tuple(pair for pair, decided in zip(pairs, rejected, strict=True) if not decided)
        assert undecided({name: dict(enumerate(row.tolist())) for name, row in values.items()}) == expected
        counts.add(len(expected))
    assert len(counts) > 3  # from nearly all decided to nearly all tied


def test_without_a_correction_more_would_be_called_decided() -> None:
    # p values of the pairs: about 0.035 (a b), and far from decided for the others. Alone it counts, among three not.
    numbers: Numbers = {"a": [1.0, 1.3, 1.1], "b": [2.0, 2.1, 2.4], "c": [0.0, 4.0, -1.0]}
    by_seed = {name: {s: float(x or 0) for s, x in enumerate(row)} for name, row in numbers.items()}
    assert undecided({name: by_seed[name] for name in "ab"}) == ()
    assert undecided(by_seed) == (("a", "b"), ("a", "c"), ("b", "c"))


def test_no_difference_to_the_best_makes_several_best() -> None:
    seen = ranking(
        evidence({"loss": {"a": [1.0, 1.1, 1.2], "b": [1.1, 1.0, 1.21], "c": [5.0, 5.1, 5.2]}}),
        "copy",
        "loss",
        None,
        "lower",
    )
    assert seen is not None
    assert seen.ties == (("a", "b"),)
    assert seen.best == ("a", "b")


def test_every_measure_with_a_better_end_is_ranked_in_each_group_at_each_place() -> None:
    numbers: Numbers = {"a": [1.0, 1.0, 1.0], "b": [2.0, 2.0, 2.0]}
    infos = [MeasureInfo("loss", "loss", better="lower"), MeasureInfo("ratio", "ratio"), MeasureInfo("none", "none")]
    found = rankings(evidence({"loss": numbers, "ratio": numbers}), infos)
    assert [(one.group, one.measure, one.at, one.best) for one in found] == [("copy", "loss", None, ("a",))]


def test_perplexities_are_ranked_by_their_ratios() -> None:
    # b is 4 to 6 times a: differences 15, 16.5 and 26 with p = 0.031; logarithms ln 4, ln 4 and ln 6 with p = 0.0078.
    # Three pairs with the first: the smallest p value is held against 0.05 / 3 = 0.0167.
    numbers: Numbers = {"a": [5.0, 5.5, 5.2], "b": [20.0, 22.0, 31.2], "c": [5.1, 5.4, 5.3], "d": [5.0, 5.6, 5.1]}
    seen = evidence({"perplexity": numbers})
    by_difference = ranking(seen, "copy", "perplexity", None, "lower")
    by_ratio = ranking(seen, "copy", "perplexity", None, "lower", scale="log")
    assert by_difference is not None
    assert by_ratio is not None
    assert ("a", "b") in by_difference.ties
    assert ("a", "b") not in by_ratio.ties
    assert by_difference.names == by_ratio.names
