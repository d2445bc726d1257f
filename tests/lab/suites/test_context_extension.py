"""The suite on longer contexts: its runs, and what it makes of numbers."""

from collections.abc import Mapping

import pytest

from gnomon.encodings.frequencies import build_frequencies
from gnomon.lab.experiments import build_experiment
from gnomon.lab.experiments.extend import Extend
from gnomon.lab.experiments.train import Train
from gnomon.lab.extensions import BY_PARTS, COPIES, LAST, LINEAR, METHODS, NONE, NTK, SMOLLM2, TEXTS, TUNED, YARN, rules
from gnomon.lab.measures.base import build_measure
from gnomon.lab.panels import COPY, TOKENS
from gnomon.lab.suites import Size
from gnomon.lab.suites.context_extension import ContextExtension
from gnomon.lab.training.options import TrainingOptions
from gnomon.report.lab.evidence import Evidence
from tests.helpers.cells import Cell, Numbers, evidence_in

#: Perplexity of the last tokens at 1 and 4 times the length: as it is, and after more training.
READ = {
    NONE: ((5.0, 20.0), (5.5, 7.0)),
    LINEAR: ((15.0, 15.5), (6.0, 6.1)),
    NTK: ((6.0, 12.0), (5.5, 5.6)),
    BY_PARTS: ((6.5, 7.0), (5.5, 5.6)),
    YARN: ((7.0, 7.5), (5.5, 5.6)),
}
COPIED = {NONE: (0.1, 0.5), YARN: (0.4, 0.9)}


def evidence(
    read: Mapping[str, tuple[tuple[float, float], ...]], copied: Mapping[str, tuple[float, float]]
) -> Evidence:
    [text], copying = TEXTS["quick"], COPIES["quick"]
    cells: dict[Cell, Numbers] = {}

    def seeds(number: float, name: str) -> Numbers:
        return [number + 0.001 * seed * (1 + len(name)) for seed in range(3)]

    for name, states in read.items():
        for state, row in zip(("", f", {TUNED}"), states, strict=True):
            for times, number in zip((1, 4), row, strict=True):
                cells[text.corpus, name + state, LAST, times * text.length] = seeds(number, name)
    for name, numbers in copied.items():
        for state, number in zip(("", f", {TUNED}"), numbers, strict=True):
            cells[COPY, name + state, TOKENS, copying.lengths[1]] = seeds(number, name)
    return evidence_in(cells)


def outcomes(found: Evidence) -> list[str]:
    return [each.outcome for each in ContextExtension().judge(found, "quick")]


@pytest.mark.parametrize("size", ["quick", "full"])
def test_one_run_for_each_seed_and_group_tries_all_methods(size: Size) -> None:
    runs = ContextExtension().runs(size, [0, 4])
    groups = len(TEXTS[size]) + 1 + (size == "full")
    assert len({run.key for run in runs}) == len(runs) == 2 * groups
    for run in runs:
        assert list(run.options["methods"]) == list(METHODS)


@pytest.mark.parametrize("size", ["quick", "full"])
def test_every_run_builds(size: Size) -> None:
    for run in ContextExtension().runs(size, [0]):
        extend = build_experiment(run.experiment, run.options)
        if run.group == SMOLLM2:
            continue
        assert isinstance(extend, Extend)
        train = Train(**extend.train)
        assert all(build_measure(each) for each in train.measures)
        assert TrainingOptions(**extend.tuning["training"]).steps < TrainingOptions(**train.training).steps
        longest = max(max(each["lengths"]) for each in train.measures)
        assert extend.tuning["lengths"][1] == longest


def test_rules_slow_by_the_factor_that_the_longest_row_asks_for() -> None:
    built = {name: build_frequencies(rule).inverse(32) for name, rule in rules(4.0, 64).items()}
    plain = built[NONE]
    assert (built[LINEAR] * 4 == plain).all()
    for name in (NTK, BY_PARTS, YARN):  # the fastest pair is kept, the slowest is divided
        assert built[name][0] == plain[0]
        assert built[name][-1] * 4 == pytest.approx(plain[-1])


@pytest.mark.parametrize("size", ["quick", "full"])
def test_pairs_are_of_variants_and_places_that_are_measured(size: Size) -> None:
    names = {f"{name}{state}" for name in METHODS for state in ("", f", {TUNED}")}
    taken = {
        (run.group, each["measure"], at)
        for run in ContextExtension().runs(size, [0])
        for each in run.options.get("train", {"measures": [{"measure": LAST, **run.options}]})["measures"]
        for at in each["lengths"]
    }
    for pair in ContextExtension().pairs(size):
        assert {pair.a, pair.b} <= names
        assert (pair.group, pair.measure, pair.at) in taken


def test_numbers_as_published_hold() -> None:
    assert set(outcomes(evidence(READ, COPIED))) == {"holds"}


def test_a_published_model_is_judged_in_the_full_form_by_its_own_numbers() -> None:
    rows = {NONE: (10.0, 50.0), LINEAR: (14.0, 20.0), YARN: (10.5, 12.0)}
    cells: dict[Cell, Numbers] = {
        (SMOLLM2, name, LAST, at): [number, number + 0.01, number - 0.02 * len(name)]
        for name, row in rows.items()
        for at, number in zip((1024, 10240), row, strict=True)
    }
    judged = [each for each in ContextExtension().judge(evidence_in(cells), "full") if SMOLLM2 in each.statement]
    assert [each.outcome for each in judged] == ["holds"] * 3
    assert not any(SMOLLM2 in run.group for run in ContextExtension().runs("quick", [0]))


def test_numbers_the_other_way_round_fail() -> None:
    turned = {
        NONE: ((9.0, 9.0), (9.0, 9.0)),
        NTK: ((8.0, 20.0), (9.0, 20.0)),
        BY_PARTS: ((7.0, 20.0), (9.0, 20.0)),
        YARN: ((7.0, 20.0), (9.0, 20.0)),
        LINEAR: ((6.0, 20.0), (9.0, 20.0)),
    }
    assert set(outcomes(evidence(turned, {NONE: (0.9, 0.9), YARN: (0.1, 0.1)}))) == {"fails"}


def test_equal_numbers_show_no_difference_and_none_are_not_measured() -> None:
    equal = evidence(dict.fromkeys(METHODS, ((5.0, 5.0), (5.0, 5.0))), {NONE: (0.5, 0.5), YARN: (0.5, 0.5)})
    compared = [each.outcome for each in ContextExtension().judge(equal, "quick") if "comparison" in each.numbers]
    assert len(compared) == 7
    assert "not measured" not in compared
    assert set(outcomes(Evidence([]))) == {"not measured"}
