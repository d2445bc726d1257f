"""Claims that are read from what a suite says: 13, 16, 19 and 38."""

import pytest

from gnomon.lab.claims import all_claims
from gnomon.lab.claims.judgements import OfJudgements, combined, shown
from gnomon.lab.suites import registry as suites
from gnomon.report.lab.claims import Verdict
from gnomon.report.lab.evidence import Evidence
from gnomon.report.lab.results import Run
from gnomon.report.lab.study import Judgement, Outcome
from tests.helpers.made_up_evidence import evidence_of

#: What the article says is better, and what is worse.
BETTER = {13: "learned", 16: "add", 19: "positions / sqrt(d)", 38: "positions / sqrt(d)"}
WORSE = {13: "sinusoidal", 16: "concat, projected", 19: "positions / d", 38: "none"}
RISING = ("token_accuracy", "exact_match")


def of_suite(number: int) -> OfJudgements:
    [claim] = all_claims([number])
    assert isinstance(claim, OfJudgements)
    return claim


@pytest.mark.parametrize("number", BETTER)
@pytest.mark.parametrize(("right", "verdict"), [(True, "holds"), (False, "fails")])
def test_a_suite_that_says_what_the_article_says_makes_it_hold(number: int, right: bool, verdict: Verdict) -> None:
    claim = of_suite(number)
    ranks = {BETTER[number]: 1.0, WORSE[number]: 3.0, "multiply": 3.0}

    def value(run: Run, measure: str) -> float:
        rank = ranks.get(run.variant, 2.0) + run.seed / 1000
        better = rank if measure not in RISING else 4 - rank
        return better if right else 4 - better

    reading = claim.read(evidence_of(suites.get(claim.suite)(), "quick", value), "quick")
    assert reading is not None
    assert reading.said.verdict == verdict
    assert {key.split(", ")[-1] for key in reading.numbers} <= set(claim.measures)
    assert reading.numbers


@pytest.mark.parametrize("number", BETTER)
def test_nothing_measured_is_not_a_verdict(number: int) -> None:
    assert of_suite(number).read(Evidence([]), "quick") is None


@pytest.mark.parametrize("number", BETTER)
def test_equal_numbers_decide_nothing(number: int) -> None:
    claim = of_suite(number)
    evidence = evidence_of(suites.get(claim.suite)(), "quick", lambda run, measure: float(run.seed % 2 + 1))
    reading = claim.read(evidence, "quick")
    assert reading is not None
    assert reading.said.verdict == "depends"
    assert "no difference seen" in reading.said.seen


@pytest.mark.parametrize(
    ("outcomes", "verdict"),
    [
        (("holds", "holds", "not measured"), "holds"),
        (("fails", "fails"), "fails"),
        (("holds", "fails"), "depends"),
        (("no difference seen", "no difference seen"), "depends"),
        (("fails", "no difference seen"), "depends"),
    ],
)
def test_judgements_agree_or_it_depends(outcomes: tuple[Outcome, ...], verdict: Verdict) -> None:
    said = combined([Judgement("it is so", "", outcome, f"{outcome}.") for outcome in outcomes])
    assert said is not None
    assert said.verdict == verdict


def test_nothing_measured_says_nothing() -> None:
    assert combined([Judgement("it is so", "", "not measured", "x")]) is None


def test_numbers_are_those_of_the_last_place_of_each_group() -> None:
    claim = of_suite(38)
    evidence = evidence_of(suites.get("scaling")(), "quick", lambda run, measure: 2.0)
    numbers = shown(evidence, claim.variants, claim.measures)
    assert {tuple(key.split(", ")[-2:]) for key in numbers} == {
        ("none", "gradient_spread"),
        ("positions / sqrt(d)", "gradient_spread"),
    }
    assert {number.mean for number in numbers.values()} == {2.0}
