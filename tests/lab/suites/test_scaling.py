"""The suite on the scale of positions: what its variants are, and what it makes of numbers."""

import math

import pytest
import torch

from gnomon.lab.experiments import Context, build_experiment
from gnomon.lab.experiments.train import Train
from gnomon.lab.suites import Size
from gnomon.lab.suites.scaling import BY_DIM, BY_SQRT, NONE, NOPE, VARIANTS, WORDS_DIM, WORDS_SQRT, Scaling
from gnomon.lab.tasks.base import build_task
from gnomon.lab.training.options import Placing
from gnomon.report.lab.evidence import Evidence
from gnomon.report.lab.results import Run
from tests.helpers.made_up_evidence import evidence_of

LOWER = {"perplexity", "steps_to_target", "training_loss", "loss_curve", "gradient_spread"}
#: What the article says: sqrt(d) is best and d is worst; words times sqrt(d) are between sqrt(d) and none.
BEST_FIRST = (BY_SQRT, WORDS_SQRT, NONE, BY_DIM, WORDS_DIM, NOPE)


def as_ranked(order: tuple[str, ...]) -> Evidence:
    """Numbers in this order for every measure, with seeds that differ a little."""

    def number(run: Run, measure: str) -> float:
        rank = order.index(run.variant) + 0.01 * run.seed * (1 + len(run.variant) % 3)
        return 1 + rank if measure in LOWER else 1 / (2 + rank)

    return evidence_of(Scaling(), "quick", number)


@pytest.mark.parametrize("size", ["quick", "full"])
def test_every_variant_runs_with_every_seed_in_every_group_and_no_run_twice(size: Size) -> None:
    runs = Scaling().runs(size, [0, 4])
    assert len({run.key for run in runs}) == len(runs)
    groups = {run.group for run in runs}
    assert {(run.group, run.variant, run.seed) for run in runs} == {
        (group, variant, seed) for group in groups for variant in VARIANTS for seed in (0, 4)
    }
    for group in groups:  # one thing differs
        options = [{**run.options, "model": None} for run in runs if run.group == group]
        assert all(each == options[0] for each in options)


def test_the_quick_form_needs_no_data_that_must_be_fetched() -> None:
    tasks = [run.options["task"] for run in Scaling().runs("quick", [0])]
    assert {(task["task"], task.get("corpus")) for task in tasks} == {("characters", "stdlib"), ("fixed_offset", None)}


@pytest.mark.parametrize(
    ("variant", "ratio"),
    [  # the norm of a sinusoid is sqrt(d / 2); words start with norm 1
        (NONE, math.sqrt(32)),
        (BY_SQRT, math.sqrt(32) / 8),
        (BY_DIM, math.sqrt(32) / 64),
        (WORDS_SQRT, math.sqrt(32) / 8),
        (WORDS_DIM, math.sqrt(32) / 64),
        (NOPE, 0.0),
    ],
)
def test_a_variant_is_as_loud_as_its_name_says(variant: str, ratio: float) -> None:
    run = next(
        run for run in Scaling().runs("quick", [0]) if run.variant == variant and "offset" in run.options["task"]
    )
    train = build_experiment("train", run.options)
    assert isinstance(train, Train)
    task = build_task("fixed_offset", {"offset": 3, "symbols": 8})
    stack = train.untrained(task, Placing(), Context(0)).stack
    words = stack.embedding(torch.arange(8)[None])
    positions = stack.encoding.embed(torch.zeros(1, 8, 64), torch.arange(8)[None])
    assert stack.embedding.words.weight.shape == (8, 64)
    measured = (positions.norm(dim=-1).mean() / words.norm(dim=-1).mean()).detach()
    assert measured.item() == pytest.approx(ratio, rel=0.15)  # eight random words


@pytest.mark.parametrize("size", ["quick", "full"])
def test_pairs_are_of_variants_and_measures_that_the_runs_have(size: Size) -> None:
    runs = Scaling().runs(size, [0])
    taken = {(run.group, m["measure"], run.variant) for run in runs for m in run.options["measures"]}
    for pair in Scaling().pairs(size):
        assert (pair.group, pair.measure, pair.a) in taken
        assert (pair.group, pair.measure, pair.b) in taken


def outcomes(evidence: Evidence) -> list[str]:
    return [judgement.outcome for judgement in Scaling().judge(evidence, "quick")]


def test_numbers_as_the_article_has_them_hold() -> None:
    assert set(outcomes(as_ranked(BEST_FIRST))) == {"holds"}


def test_numbers_the_other_way_round_fail() -> None:
    assert set(outcomes(as_ranked(BEST_FIRST[::-1]))) == {"fails"}


def test_equal_numbers_show_no_difference_and_none_are_not_measured() -> None:
    equal = evidence_of(Scaling(), "quick", lambda run, measure: 2.0 + run.seed)
    assert set(outcomes(equal)) == {"no difference seen"}
    assert set(outcomes(Evidence([]))) == {"not measured"}


def test_one_seed_decides_nothing() -> None:
    one = evidence_of(Scaling(), "quick", lambda run, measure: float(BEST_FIRST.index(run.variant)), seeds=1)
    assert "holds" not in outcomes(one)
    assert "fails" not in outcomes(one)


def test_every_judgement_names_its_group_and_a_source() -> None:
    groups = {run.group for run in Scaling().runs("quick", [0])}
    for judgement in Scaling().judge(as_ranked(BEST_FIRST), "quick"):
        assert judgement.statement.split(":")[0] in groups
        assert judgement.source.startswith(("the article, section 3.3", "Vaswani"))


@pytest.mark.parametrize("size", ["quick", "full"])
def test_the_method_tells_groups_steps_and_width(size: Size) -> None:
    method = Scaling().method(size)
    for run in Scaling().runs(size, [0]):
        assert f"{run.group}, {run.options['training']['steps']} steps at width {run.options['model']['dim']}" in method
