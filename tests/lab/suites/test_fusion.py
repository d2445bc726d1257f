"""The suite on ways to join positions and words: what its variants do, and what it makes of numbers."""

import pytest
import torch

from gnomon.encodings import Sinusoidal
from gnomon.lab.experiments import Context, build_experiment
from gnomon.lab.experiments.train import Train
from gnomon.lab.suites import Size
from gnomon.lab.suites.fusion import ADD, CONCAT, MULTIPLY, SCALED, VARIANTS, Fusion
from gnomon.lab.tasks.base import build_task
from gnomon.lab.training.options import Placing
from gnomon.report.lab.evidence import Evidence
from gnomon.report.lab.results import Run
from tests.helpers.made_up_evidence import evidence_of

LOWER = {"perplexity", "steps_to_target", "training_loss", "loss_curve", "gradient_spread"}
BEST_FIRST = (SCALED, ADD, CONCAT, MULTIPLY)


def as_ranked(order: tuple[str, ...]) -> Evidence:
    def number(run: Run, measure: str) -> float:
        rank = order.index(run.variant) + 0.01 * run.seed * (1 + len(run.variant) % 3)
        return 1 + rank if measure in LOWER else 1 / (2 + rank)

    return evidence_of(Fusion(), "quick", number)


@pytest.mark.parametrize("size", ["quick", "full"])
def test_every_variant_runs_with_every_seed_in_every_group_and_no_run_twice(size: Size) -> None:
    runs = Fusion().runs(size, [0, 4])
    assert len({run.key for run in runs}) == len(runs)
    groups = {run.group for run in runs}
    assert {(run.group, run.variant, run.seed) for run in runs} == {
        (group, variant, seed) for group in groups for variant in VARIANTS for seed in (0, 4)
    }


def test_a_variant_joins_as_its_name_says() -> None:
    table = Sinusoidal(64).table(torch.arange(5))
    x = torch.randn(1, 5, 64, generator=torch.Generator().manual_seed(0))
    task = build_task("fixed_offset", {"offset": 3, "symbols": 8})
    joined = {}
    for run in Fusion().runs("quick", [0]):
        if "offset" in run.options["task"]:
            train = build_experiment("train", run.options)
            assert isinstance(train, Train)
            joined[run.variant] = train.untrained(task, Placing(), Context(0)).stack.encoding
    at = torch.arange(5)[None]
    torch.testing.assert_close(joined[ADD].embed(x, at), x + table)
    torch.testing.assert_close(joined[SCALED].embed(x, at), x + table / 8)
    torch.testing.assert_close(joined[MULTIPLY].embed(x, at), x * table)
    projected = joined[CONCAT].embed(x, at)
    assert projected.shape == x.shape
    weight, bias = (p.detach() for p in joined[CONCAT].parameters())
    torch.testing.assert_close(projected.detach(), x @ weight[:, :64].T + table @ weight[:, 64:].T + bias)


@pytest.mark.parametrize("size", ["quick", "full"])
def test_pairs_are_of_variants_and_measures_that_the_runs_have(size: Size) -> None:
    runs = Fusion().runs(size, [0])
    taken = {(run.group, m["measure"], run.variant) for run in runs for m in run.options["measures"]}
    for pair in Fusion().pairs(size):
        assert (pair.group, pair.measure, pair.a) in taken
        assert (pair.group, pair.measure, pair.b) in taken


def outcomes(evidence: Evidence) -> set[str]:
    return {judgement.outcome for judgement in Fusion().judge(evidence, "quick")}


def test_numbers_as_the_article_has_them_hold_and_others_do_not() -> None:
    assert outcomes(as_ranked(BEST_FIRST)) == {"holds"}
    assert outcomes(as_ranked(BEST_FIRST[::-1])) == {"fails"}
    assert outcomes(evidence_of(Fusion(), "quick", lambda run, measure: 2.0 + run.seed)) == {"no difference seen"}
    assert outcomes(Evidence([])) == {"not measured"}
