"""A suite done: its parts are where the reports look for them."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from gnomon.errors import GnomonError
from gnomon.lab.engines import Engine
from gnomon.lab.engines.base import Tell
from gnomon.lab.measures import registry as measures
from gnomon.lab.store import Store
from gnomon.lab.studies import infos, run_suite
from gnomon.report.lab.results import MeasureInfo, Result, Run, Series
from gnomon.report.lab.study import Failure, Study
from tests.helpers.lab_runs import store_in
from tests.helpers.lab_suite import Tiny


class Canned(Engine):
    """The loss of seed s is 1 + s / 10 with rotary positions, and half of that with ALiBi; some fail."""

    def __init__(self, *failing: str) -> None:
        self.failing = failing

    def do(self, runs: Sequence[Run], store: Store, tell: Tell) -> None:
        for run in runs:
            if run.variant in self.failing:
                tell(Failure(run, "It is bad."))
                continue
            loss = (1 + run.seed / 10) / (1 if run.variant == "rotary" else 2)
            tell(Result(run, {"": {"training_loss": Series.number(loss)}}, seconds=1.0))


def study_of(folder: Path, engine: Engine, seeds: Sequence[int] = (0, 1, 2)) -> Study:
    return run_suite(Tiny(), "quick", seeds, engine, store_in(folder), "gnomon lab tiny --quick")


def test_a_study_holds_the_suite_its_results_and_what_they_say(tmp_path: Path) -> None:
    study = study_of(tmp_path, Canned())
    assert (study.suite, study.title, study.question) == (Tiny.name, Tiny.title, Tiny.question)
    assert (study.size, study.command, study.sources) == ("quick", "gnomon lab tiny --quick", Tiny.sources)
    assert [result.run.name for result in study.results[:3]] == [f"copy rotary seed {seed}" for seed in (0, 1, 2)]
    assert study.seeds == (0, 1, 2)
    assert [judgement.outcome for judgement in study.judgements] == ["holds"]
    assert study.info("training_loss") == measures.get("training_loss").info
    assert study.environment["torch"]


def test_pairs_are_compared_seed_by_seed_and_those_not_measured_are_left_out(tmp_path: Path) -> None:
    [comparison] = study_of(tmp_path, Canned()).comparisons
    assert (comparison.a, comparison.b, comparison.seeds) == ("rotary", "alibi", 3)
    assert comparison.difference == pytest.approx((0.5 + 0.55 + 0.6) / 3)


def test_nothing_is_ranked_from_two_seeds(tmp_path: Path) -> None:
    assert study_of(tmp_path, Canned(), (0, 1)).rankings == ()
    assert study_of(tmp_path, Canned(), (0, 1, 2)).rankings[0].names == ("alibi", "rotary")


def test_a_failed_run_is_in_the_study(tmp_path: Path) -> None:
    study = study_of(tmp_path, Canned("alibi"))
    assert [failure.message for failure in study.failures] == ["It is bad."] * 3
    assert {result.run.variant for result in study.results} == {"rotary"}
    assert study.comparisons == ()


def test_a_study_in_which_all_runs_failed_says_that_nothing_was_measured(tmp_path: Path) -> None:
    study = study_of(tmp_path, Canned("alibi", "rotary"))
    assert [judgement.outcome for judgement in study.judgements] == ["not measured"]
    assert (study.results, study.measures) == ((), ())


@pytest.mark.parametrize("seeds", [(), (0, 0), (-1, 0)])
def test_seeds_that_are_none_are_refused(tmp_path: Path, seeds: tuple[int, ...]) -> None:
    with pytest.raises(GnomonError, match="one seed or more, each of them once and none below 0"):
        study_of(tmp_path, Canned(), seeds)


def test_numbers_mean_what_their_experiment_says_then_what_the_measure_says_else_their_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from gnomon.lab.experiments.train import Train

    own = MeasureInfo("token_accuracy", "accuracy in its own way")
    monkeypatch.setattr(Train, "infos", (own,))
    series = {name: Series.number(1.0) for name in ("token_accuracy", "exact_match", "unheard_of")}
    result = Result(Run("train", "copy", "rotary", 0), {"rotary": series}, seconds=1.0)
    assert infos([result, result]) == (
        own,
        measures.get("exact_match").info,
        MeasureInfo("unheard_of", "unheard of"),
    )
