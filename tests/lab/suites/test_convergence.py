"""The suite on how fast models learn: its runs, and what it makes of numbers."""

import pytest

from gnomon.lab.experiments import Context, build_experiment
from gnomon.lab.experiments.train import Train
from gnomon.lab.measures.base import build_measure
from gnomon.lab.panels import COPY
from gnomon.lab.suites import Size
from gnomon.lab.suites.convergence import GRADIENTS, LOSS, PANELS, STEPS, VARIANTS, Convergence
from gnomon.lab.suites.extrapolation import Extrapolation
from gnomon.lab.tasks.base import build_task
from gnomon.lab.training.options import Placing
from gnomon.report.lab.evidence import Evidence
from tests.helpers.cells import evidence_in


def evidence(steps: dict[str, tuple[float | None, ...]]) -> Evidence:
    return evidence_in({(group, name, STEPS, None): row for group in ("stdlib", COPY) for name, row in steps.items()})


def outcomes(found: Evidence) -> list[str]:
    return [each.outcome for each in Convergence().judge(found, "quick")]


@pytest.mark.parametrize("size", ["quick", "full"])
def test_every_variant_runs_with_every_seed_in_every_group_and_no_run_twice(size: Size) -> None:
    runs = Convergence().runs(size, [0, 4])
    assert len({run.key for run in runs}) == len(runs)
    groups = {run.group for run in runs}
    assert COPY in groups
    assert {(run.group, run.variant, run.seed) for run in runs} == {
        (group, variant, seed) for group in groups for variant in VARIANTS for seed in (0, 4)
    }


@pytest.mark.parametrize("size", ["quick", "full"])
def test_language_models_are_those_of_extrapolation_so_that_none_is_trained_twice(size: Size) -> None:
    there = {run.key for run in Extrapolation().runs(size, [0, 1])}
    read = [run for run in Convergence().runs(size, [0, 1]) if run.group != COPY]
    assert {run.key for run in read} <= there


@pytest.mark.parametrize("size", ["quick", "full"])
def test_every_run_that_copies_builds(size: Size) -> None:
    for run in PANELS[size].runs([0]):
        train = build_experiment(run.experiment, run.options)
        assert isinstance(train, Train)
        names = [build_measure(each).info.name for each in train.measures]
        assert names == ["exact_match", "loss_curve", STEPS, LOSS, GRADIENTS]
        task = build_task("copy", {"symbols": run.options["task"]["symbols"]})
        train.untrained(task, Placing(), Context(0))


@pytest.mark.parametrize("size", ["quick", "full"])
def test_pairs_are_of_groups_and_variants_that_run(size: Size) -> None:
    groups = {run.group for run in Convergence().runs(size, [0])}
    pairs = Convergence().pairs(size)
    assert {pair.group for pair in pairs} == groups
    assert {name for pair in pairs for name in (pair.a, pair.b)} == set(VARIANTS)


def test_the_published_order_holds_and_its_reverse_fails() -> None:
    order: dict[str, tuple[float | None, ...]] = {
        "rotary": (160, 161, 163),
        "learned": (300, 302, 301),
        "t5": (310, 315, 311),
        "sinusoidal": (340, 343, 347),
    }
    assert set(outcomes(evidence(order))) == {"holds"}
    turned = dict(zip(order, reversed(order.values()), strict=True))
    assert set(outcomes(evidence(turned))) == {"fails"}


def test_seeds_on_both_sides_show_no_difference() -> None:
    same = evidence(dict.fromkeys(("rotary", "learned", "t5", "sinusoidal"), (200.0, 300.0, 250.0)))
    found = outcomes(same)
    assert found.count("no difference seen") == 8
    assert found.count("fails") == 2  # rotary is said to need clearly fewer steps


def test_a_target_that_is_not_reached_is_not_measured() -> None:
    reached = dict.fromkeys(("rotary", "t5", "sinusoidal"), (200.0, 201.0, 203.0))
    never = evidence({**reached, "learned": (None, None, None)})
    assert [each.outcome for each in Convergence().judge(never, "quick") if "learned" in each.statement] == [
        "not measured"
    ] * 6
    assert set(outcomes(Evidence([]))) == {"not measured"}
