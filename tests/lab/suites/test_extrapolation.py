"""The suite on long text: its runs, and what it makes of numbers."""

import pytest

from gnomon.lab.experiments import Context, build_experiment
from gnomon.lab.experiments.train import Train
from gnomon.lab.measures.base import build_measure
from gnomon.lab.recipes import READINGS
from gnomon.lab.suites import Size
from gnomon.lab.suites.extrapolation import LAST, PERPLEXITY, VARIANTS, Extrapolation
from gnomon.lab.tasks.base import build_task
from gnomon.lab.training.options import Placing
from gnomon.report.lab.evidence import Evidence
from tests.helpers.cells import Cell, Numbers, evidence_in

LENGTHS = (64, 80, 96, 128, 256, 512)
SPREAD = (0.0, 0.01, 0.02)
#: Perplexity of the last tokens by length, as the published order has it.
PUBLISHED: dict[str, tuple[float | None, ...]] = {
    "sinusoidal": (6, 14, 27, 22, 24, 20),
    "rotary": (4.5, 4.6, 4.7, 8, 21, 28),
    "t5": (6, 6.1, 6.2, 6.5, 8, 10),
    "alibi": (5.5, 5.5, 5.6, 5.6, 5.6, 5.7),
    "learned": (6.8, None, None, None, None, None),
    "nope": (8, 8, 9, 9, 10, 11),
}


def evidence(table: dict[str, tuple[float | None, ...]], seeds: tuple[float, ...] = SPREAD) -> Evidence:
    """Pieces side by side lose a quarter of what last tokens lose, and ALiBi gains a little."""
    cells: dict[Cell, Numbers] = {}
    for variant, row in table.items():
        for length, number in zip(LENGTHS, row, strict=True):
            cells["stdlib", variant, LAST, length] = [None if number is None else number + each for each in seeds]
            own = row[0] or 0.0
            pieces = None if number is None else own + (number - own) / 4 - 0.001 * (length - 64)
            cells["stdlib", variant, PERPLEXITY, length] = [None if pieces is None else pieces + e for e in seeds]
    return evidence_in(cells)


def outcomes(found: Evidence) -> dict[str, str]:
    return {each.statement: each.outcome for each in Extrapolation().judge(found, "quick")}


@pytest.mark.parametrize("size", ["quick", "full"])
def test_every_variant_runs_with_every_seed_on_every_corpus_and_no_run_twice(size: Size) -> None:
    runs = Extrapolation().runs(size, [0, 4])
    corpora = [reading.corpus for reading in READINGS[size]]
    assert len({run.key for run in runs}) == len(runs) == len(corpora) * len(VARIANTS) * 2
    assert {(run.group, run.variant, run.seed) for run in runs} == {
        (corpus, variant, seed) for corpus in corpora for variant in VARIANTS for seed in (0, 4)
    }
    for corpus in corpora:  # one thing differs
        own = [run.options for run in runs if run.group == corpus]
        assert len({str({**each, "model": {**each["model"], "encoding": None}}) for each in own}) == 1


def test_the_quick_form_is_as_small_as_its_budget_allows_and_needs_no_data() -> None:
    [reading] = READINGS["quick"]
    assert (reading.corpus, reading.length, reading.steps) == ("stdlib", 64, 800)
    assert reading.lengths == list(LENGTHS)
    assert Extrapolation().needs("quick") == ()
    assert Extrapolation().needs("full") == ("austen",)


def test_every_quick_run_builds() -> None:
    for run in Extrapolation().runs("quick", [0]):
        train = build_experiment(run.experiment, run.options)
        assert isinstance(train, Train)
        assert [build_measure(each).info.name for each in train.measures][:2] == [PERPLEXITY, LAST]
    task = build_task("copy", {})  # a vocabulary; the corpus is read by the tests of its own
    built = {
        run.variant: Train(**{**run.options, "lengths": [31, 31]})  # 64 slots, as the text has
        for run in Extrapolation().runs("quick", [0])
    }
    limits = {name: train.untrained(task, Placing(), Context(0)).max_length for name, train in built.items()}
    assert limits == {name: 64 if name == "learned" else None for name in VARIANTS}


@pytest.mark.parametrize("size", ["quick", "full"])
def test_pairs_are_of_places_that_are_measured(size: Size) -> None:
    runs = Extrapolation().runs(size, [0])
    taken = {
        (run.group, run.variant, each["measure"], at)
        for run in runs
        for each in run.options["measures"]
        for at in each.get("lengths", [])
    }
    for pair in Extrapolation().pairs(size):
        assert {(pair.group, name, pair.measure, pair.at) for name in (pair.a, pair.b)} <= taken


def test_the_published_order_holds() -> None:
    assert set(outcomes(evidence(PUBLISHED)).values()) == {"holds"}


def test_encodings_that_change_places_fail() -> None:
    swapped = {
        **PUBLISHED,
        "alibi": PUBLISHED["rotary"],
        "t5": PUBLISHED["sinusoidal"],
        "rotary": PUBLISHED["alibi"],
        "sinusoidal": PUBLISHED["alibi"],
        "learned": PUBLISHED["nope"],
    }
    found = outcomes(evidence(swapped))
    kept = [statement for statement, outcome in found.items() if outcome != "fails"]
    assert [statement.split(": ", 1)[1][:30] for statement in kept] == [  # both are true of the swapped rows
        "Rotary holds for a quarter of ",
        "What ALiBi gains from longer p",
    ]


def test_seeds_that_disagree_show_no_difference() -> None:
    found = outcomes(evidence(PUBLISHED, seeds=(0.0, 9.0, -4.0)))
    assert found["stdlib: ALiBi holds at 2 to 8 times the trained length."] == "holds"  # ratios of a seed to itself
    assert found["stdlib: At 8 times the trained length ALiBi has less loss than T5 biases."] == "holds"
    mixed = evidence(PUBLISHED | {"rotary": (4.5, 4.6, 4.7, 8, 11.5, 10.02)}, seeds=(0.0, 2.0, -1.0))
    assert outcomes(mixed)["stdlib: Plain rotary has failed at 4 times the trained length."] == "no difference seen"


def test_without_runs_nothing_is_measured() -> None:
    assert set(outcomes(Evidence([])).values()) == {"not measured"}


def test_judgements_tell_their_numbers() -> None:
    first, *_ = Extrapolation().judge(evidence(PUBLISHED), "quick")
    assert first.seen == (
        "Alibi, last k perplexity at 2 to 8 times the length over that at 1: mean 1.04, by seed 1.04, 1.04, 1.04; "
        "expected at most 1.25."
    )
