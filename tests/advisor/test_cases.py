"""The table of cases: the first recommendation, its numbers, its risks and what is ruled out are as reasoned there."""

from collections.abc import Mapping

import pytest

from gnomon import encodings
from gnomon.advisor.candidates import SEQUENCE
from gnomon.doctor.check import registry as checks
from gnomon.report.advice.document import Advice
from tests.advisor.case import Case
from tests.advisor.cases import ARTICLE, CHECKPOINTS, FROM_SCRATCH

ALL = (*ARTICLE, *FROM_SCRATCH, *(case for _, case in CHECKPOINTS))
Answers = Mapping[str, Advice]

every_case = pytest.mark.parametrize("case", ALL, ids=[case.name for case in ALL])

KINDS = ("lab result", "published table", "arithmetic")


def test_there_are_the_four_scenarios_and_more_than_twenty_others() -> None:
    assert len(ARTICLE) == 4
    assert len(ALL) >= 24
    assert len({case.name for case in ALL}) == len(ALL)


@every_case
def test_the_first_recommendation_is_the_expected_one(case: Case, answers: Answers) -> None:
    advice = answers[case.name]
    names = [it.name for it in advice.recommendations]
    assert names[0] == case.first
    assert [name for name in names[1:] if name in case.behind] == list(case.behind)
    assert set(case.out) <= {it.name for it in advice.ruled_out}


@every_case
def test_its_options_numbers_and_checks_are_the_expected_ones(case: Case, answers: Answers) -> None:
    best = answers[case.name].best
    assert {key: best.options.get(key) for key in case.options} == case.options
    assert {key: best.numbers.get(key) for key in case.numbers} == case.numbers
    assert set(case.checks) <= {risk.check for risk in best.risks}


@every_case
def test_every_recommendation_builds_and_names_checks_that_exist(case: Case, answers: Answers) -> None:
    for recommendation in answers[case.name].recommendations:
        built = encodings.build(recommendation.encoding, **recommendation.options)
        assert set(recommendation.options) <= set(built.options)
        assert recommendation.risks
        assert {risk.check for risk in recommendation.risks} <= set(checks.names())


@every_case
def test_parameters_that_are_told_are_those_of_the_module(case: Case, answers: Answers) -> None:
    for recommendation in answers[case.name].recommendations:
        told = [cost.value for cost in recommendation.costs if cost.name == "parameters"]
        built = encodings.build(recommendation.encoding, **recommendation.options)
        count = sum(parameter.numel() for parameter in built.parameters())
        if recommendation.name != "keep":
            assert told == ([count] if count else [])


@every_case
def test_points_add_up_and_order_the_recommendations(case: Case, answers: Answers) -> None:
    advice = answers[case.name]
    totals = [sum(given.points for given in it.points) for it in advice.recommendations]
    assert totals == [it.total for it in advice.recommendations] == sorted(totals, reverse=True)
    assert {given.rule for it in advice.recommendations for given in it.points} <= {it.rule for it in advice.fired}


@every_case
def test_every_first_recommendation_has_evidence_with_a_source(case: Case, answers: Answers) -> None:
    best = answers[case.name].best
    assert best.points
    assert {it.kind for it in best.evidence} != {"lab result"}  # small models are never all that there is
    assert all(it.source and it.statement and it.kind in KINDS for it in best.evidence)


def test_equal_points_keep_the_order_of_the_candidates(answers: Answers) -> None:
    order = [candidate.name for candidate in SEQUENCE]
    assert order.index("rotary") < order.index("learned")
    first, second = answers["absolute with few examples"].recommendations[:2]
    assert (first.name, second.name, first.total - second.total) == ("rotary", "learned", 0)
