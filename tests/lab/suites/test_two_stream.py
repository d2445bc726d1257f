"""The suite's runs, and what it judges on numbers that are written down."""

import pytest

from gnomon.lab.experiments import build_experiment
from gnomon.lab.suites import Size, registry
from gnomon.lab.suites.two_stream import TRAINED, UNTRAINED, WITH, WITHOUT, TwoStream
from gnomon.report.lab.evidence import Evidence
from gnomon.report.lab.results import Result, Series

SUITE, SEEDS = TwoStream(), (0, 1, 2)
GOOD = {
    (UNTRAINED, WITH, "same_prefix"): 1.4e-3,
    (UNTRAINED, WITHOUT, "same_prefix"): 0.0,
    (TRAINED, WITH, "same_prefix"): 0.8,
    (TRAINED, WITHOUT, "same_prefix"): 1e-8,
    (TRAINED, WITH, "permutation_loss"): 0.02,
    (TRAINED, WITHOUT, "permutation_loss"): 1.65,
}


def evidence(changed: dict[tuple[str, str, str], float], size: Size = "quick") -> Evidence:
    numbers, results = {**GOOD, **changed}, []
    for run in SUITE.runs(size, SEEDS):
        measured = {}
        for (group, variant, measure), value in numbers.items():
            if (group, variant) == (run.group, run.variant):
                at = () if measure == "same_prefix" else (run.options["steps"],)
                measured[measure] = Series(at, (value * (1 + 0.01 * run.seed),))
        results.append(Result(run, {run.variant: measured}, seconds=1.0))
    return Evidence(results)


def test_it_is_found_by_its_name_and_says_what_is_not_published() -> None:
    assert registry.get("two-stream") is TwoStream
    assert "not published" in SUITE.expectation
    assert SUITE.sources


@pytest.mark.parametrize(("size", "steps"), [("quick", 400), ("full", 2000)])
def test_runs_can_be_built_and_every_seed_has_both_variants(size: Size, steps: int) -> None:
    runs = SUITE.runs(size, SEEDS)
    for run in runs:
        build_experiment(run.experiment, run.options)
    seen = {(run.group, run.variant, run.seed) for run in runs}
    assert seen == {(g, v, s) for g in (TRAINED, UNTRAINED) for v in (WITH, WITHOUT) for s in SEEDS}
    assert len({run.key for run in runs}) == len(runs) == 12
    assert {run.options["steps"] for run in runs if run.group == TRAINED} == {steps}
    assert {(run.variant, run.options["told"]) for run in runs} == {(WITH, "place"), (WITHOUT, "nothing")}
    assert [run.group for run in runs[:6]] == [TRAINED] * 6  # the longest first
    [pair] = SUITE.pairs(size)
    assert (pair.a, pair.b, pair.at) == (WITH, WITHOUT, steps)
    assert f"{steps} steps" in SUITE.method(size)


@pytest.mark.parametrize("size", ["quick", "full"])
def test_what_was_seen_holds(size: Size) -> None:
    assert [judgement.outcome for judgement in SUITE.judge(evidence({}, size), size)] == ["holds"] * 7


@pytest.mark.parametrize(
    ("place", "value", "failing"),
    [
        ((UNTRAINED, WITHOUT, "same_prefix"), 1e-3, {0}),
        ((UNTRAINED, WITH, "same_prefix"), 1e-7, {1}),
        ((TRAINED, WITHOUT, "same_prefix"), 0.1, {2}),
        ((TRAINED, WITH, "same_prefix"), 0.0, {3}),
        ((TRAINED, WITH, "permutation_loss"), 1.8, {4, 5}),
        ((TRAINED, WITH, "permutation_loss"), 1.0, {5}),
        ((TRAINED, WITHOUT, "permutation_loss"), 2.48, {6}),
    ],
)
def test_each_expectation_fails_when_its_number_is_wrong(
    place: tuple[str, str, str], value: float, failing: set[int]
) -> None:
    judged = SUITE.judge(evidence({place: value}), "quick")
    assert {index for index, judgement in enumerate(judged) if judgement.outcome == "fails"} == failing
    assert all(judgement.outcome == "holds" for index, judgement in enumerate(judged) if index not in failing)


def test_nothing_measured_is_said_to_be_not_measured() -> None:
    assert {judgement.outcome for judgement in SUITE.judge(Evidence([]), "quick")} == {"not measured"}
