"""Expectations against numbers of seeds."""

import pytest

from gnomon.lab.judging import AtLeast, AtMost, Expectation, ratios, worst
from gnomon.lab.suites.base import Pair
from gnomon.report.lab.evidence import Evidence
from tests.helpers.cells import evidence_in

EXPECTED = Expectation("It holds.", "a paper")
PAIR = Pair("text", "loss", 64.0, "a", "b")


def losses(a: list[float | None], b: list[float | None]) -> Evidence:
    return evidence_in({("text", "a", "loss", 64.0): a, ("text", "b", "loss", 64.0): b})


@pytest.mark.parametrize(
    ("numbers", "outcome"),
    [
        ({0: 1.0, 1: 1.25}, "holds"),
        ({0: 1.26, 1: 9.0}, "fails"),
        ({0: 1.0, 1: 1.3}, "no difference seen"),
        ({}, "not measured"),
    ],
)
def test_a_bound_is_to_be_kept_by_every_seed_and_belongs_to_the_allowed(
    numbers: dict[int, float], outcome: str
) -> None:
    assert EXPECTED.bounded("ratio", numbers, AtMost(1.25)).outcome == outcome


def test_a_bound_from_below_looks_the_other_way() -> None:
    assert EXPECTED.bounded("ratio", {0: 2.0}, AtLeast(2.0)).outcome == "holds"
    assert EXPECTED.bounded("ratio", {0: 1.9}, AtLeast(2.0)).outcome == "fails"


def test_a_judgement_says_what_was_seen_and_against_what() -> None:
    judged = EXPECTED.bounded("the ratio", {3: 1.0, 4: 2.0}, AtMost(1.5))
    assert judged.seen == "The ratio: mean 1.5, by seed 1, 2; expected at most 1.5. 1 of 2 seeds keep it."
    assert judged.numbers == {"by seed": {3: 1.0, 4: 2.0}, "bound": "at most 1.5"}
    assert (judged.statement, judged.source) == ("It holds.", "a paper")


@pytest.mark.parametrize(
    ("a", "outcome"),  # b is 2, 2.1, 2.2: differences are near -1, near 1, of both signs
    [([1.0, 1.1, 1.3], "holds"), ([3.0, 3.1, 3.3], "fails"), ([1.0, 2.1, 3.4], "no difference seen")],
)
def test_a_difference_is_to_be_seen_through_the_spread_of_seeds(a: list[float | None], outcome: str) -> None:
    evidence = losses(a, [2.0, 2.1, 2.2])
    assert EXPECTED.lower(evidence, PAIR).outcome == outcome
    other = {"holds": "fails", "fails": "holds"}.get(outcome, outcome)
    assert EXPECTED.higher(evidence, PAIR).outcome == other


def test_one_seed_decides_nothing_and_says_so() -> None:
    judged = EXPECTED.lower(losses([1.0], [2.0]), PAIR)
    assert judged.outcome == "not measured"
    assert judged.seen == "Loss at 64 in text: a 1, b 2; difference -1, one seed gives no interval."


def test_what_was_not_measured_is_said_to_be_so() -> None:
    judged = EXPECTED.lower(losses([None], [2.0]), PAIR)
    assert (judged.outcome, judged.seen) == ("not measured", "A and b on loss at 64: not measured.")


def test_ratios_pair_seeds_and_the_worst_needs_all_places() -> None:
    assert ratios({0: 6.0, 1: 1.0, 2: 5.0}, {0: 2.0, 2: 0.0, 3: 1.0}) == {0: 3.0}
    assert worst([{0: 1.0, 1: 2.0}, {1: 1.5}]) == {1: 2.0}
    assert worst([]) == {}
