"""Which runs claims need, and what becomes of their results and of their failures."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from gnomon.lab.claims import Measured, OfSuite, all_claims
from gnomon.lab.claims.study import Size, judged, run_claims, runs
from gnomon.lab.engines import Engine
from gnomon.lab.engines.base import Tell
from gnomon.lab.store import Store
from gnomon.report.lab.claims import ClaimResult
from gnomon.report.lab.results import Result, Run, Series
from gnomon.report.lab.study import Failure

SEEDS = (0, 1, 2)


def said(number: int, size: Size, results: Sequence[Result], failures: Sequence[Failure] = ()) -> ClaimResult:
    [claim] = all_claims([number])
    return judged(claim, size, results, failures)


def norm(seed: int, value: float) -> Result:
    run = Run("claim", "claim 18", "measured", seed, {"number": 18})
    return Result(run, {"measured": {"norm": Series.number(value), "spread": Series.number(0.0)}}, seconds=2.0)


def test_every_seed_of_what_is_drawn_and_one_of_what_is_not() -> None:
    planned = runs(all_claims([18, 28]), "direct", SEEDS)
    assert [(run.options["number"], run.seed) for run in planned] == [(18, 0), (28, 0), (28, 1), (28, 2)]


def test_without_training_no_suite_is_run() -> None:
    planned = runs(all_claims(), "direct", SEEDS)
    assert {run.experiment for run in planned} == {"claim"}
    measured = {claim.number for claim in all_claims() if isinstance(claim, Measured) and not claim.trains}
    assert {run.options["number"] for run in planned} == measured


def test_a_run_of_a_suite_that_two_claims_need_stands_once_and_alone_in_its_suite() -> None:
    planned = runs(all_claims([19, 38]), "quick", (0,))
    assert len({run.key for run in planned}) == len(planned)
    assert {run.group.partition(": ")[0] for run in planned} == {"scaling"}
    assert {run.variant for run in planned} == {"none", "positions / sqrt(d)", "positions / d"}


@pytest.mark.parametrize("number", [claim.number for claim in all_claims() if isinstance(claim, OfSuite)])
def test_each_claim_of_a_suite_finds_the_runs_that_it_asks_for(number: int) -> None:
    [claim] = all_claims([number])
    assert isinstance(claim, OfSuite)
    planned = runs([claim], "quick", (0,))
    assert planned
    variants = getattr(claim, "variants", None) or (claim.variant,)  # type: ignore[attr-defined]
    assert {run.variant for run in planned} == set(variants)


def test_a_claim_is_judged_by_the_spread_over_its_runs() -> None:
    found = said(18, "direct", [norm(0, 16.0), norm(1, 16.0)])
    assert found.verdict == "fails"
    assert found.numbers["norm"].seeds == 2
    assert found.seconds == 4.0
    assert found.page == "docs/article.md#claim-18"
    assert found.links == ("PE211",)


def test_failures_leave_a_claim_not_measured_with_what_they_said() -> None:
    run = Run("claim", "claim 41", "measured", 0, {"number": 41})
    found = said(41, "direct", [], [Failure(run, "It is not installed.")])
    assert (found.verdict, found.seen) == ("not measured", "It is not installed.")


def test_a_failure_beside_a_result_is_said() -> None:
    failed = Failure(Run("claim", "claim 18", "measured", 1, {"number": 18}), "It was killed.")
    found = said(18, "direct", [norm(0, 16.0)], [failed])
    assert found.verdict == "fails"
    assert found.seen.endswith("Some runs failed: It was killed.")


def test_what_was_not_asked_for_is_not_measured_and_advice_cannot_be() -> None:
    assert said(9, "direct", []).verdict == "not measured"
    assert "--quick" in said(3, "direct", []).seen
    assert said(15, "direct", []).verdict == "not measurable here"
    assert said(9, "quick", []).verdict == "not measured"


def test_claims_are_measured_through_an_engine_and_kept(tmp_path: Path) -> None:
    class Here(Engine):
        done = 0

        def do(self, runs: Sequence[Run], store: Store, tell: Tell) -> None:
            from gnomon.lab.experiments import Context
            from gnomon.lab.worker import perform

            for run in runs:
                Here.done += 1
                tell(perform(run, Context(run.seed)))

    store = Store(tmp_path, {})
    reports = [run_claims(all_claims([7, 18]), "direct", SEEDS, Here(), store, "again") for _ in range(2)]
    assert Here.done == 2
    assert [claim.verdict for claim in reports[1].claims] == ["holds", "fails"]
    assert [claim.numbers for claim in reports[0].claims] == [claim.numbers for claim in reports[1].claims]
    assert reports[0].seeds == SEEDS
