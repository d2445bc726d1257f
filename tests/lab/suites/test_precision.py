"""The suite's runs, what it judges on numbers that are written down, and that its real numbers hold."""

from collections.abc import Callable

import pytest

from gnomon.lab.experiments import Context, build_experiment
from gnomon.lab.suites import Size, registry
from gnomon.lab.suites.precision import IDS, LOGITS, ROTATIONS, SINES, TABLES, Precision
from gnomon.report.lab.evidence import Evidence
from gnomon.report.lab.results import Result, Series

SUITE, SEEDS = Precision(), (0, 1, 2)

#: What the arithmetic gives, by hand or rounded: {group: {variant: number everywhere, or by place}}.
GOOD: dict[str, dict[str, float | dict[int, float]]] = {
    IDS: {
        "int64": 131_072.0,
        "float32": 131_072.0,
        "float16": {2048: 2048.0, 4096: 3073.0},
        "bfloat16": {2048: 641.0, 4096: 769.0},
    },
    SINES: {
        "gnomon": 3e-7,
        "float32 angles": {20_000: 1e-3, 10_000_000: 0.7},
        "bfloat16 angles": 2.0,
        "float16 angles": 0.9,
        "finished bfloat16 table": 2e-3,
        "finished float16 table": 3e-4,
    },
    LOGITS: {
        "float64": 1e-12,
        "float32": 7e-7,
        "float32, plain angles": 1e-3,
        "bfloat16 q and k": 1.4e-2,
        "all bfloat16": {16: 0.1, 5000: 3.3},
    },
}
MEASURES = {IDS: "distinct_positions", SINES: "sine_error", LOGITS: "logit_shift"}


def evidence(bad: Callable[[str, str, float], float] = lambda group, variant, value: value) -> Evidence:
    results = []
    for run in SUITE.runs("quick", SEEDS):
        given = GOOD[run.group][run.variant]
        numbers = given if isinstance(given, dict) else dict.fromkeys(run.options["at"], given)
        series = Series(
            tuple(numbers), tuple(bad(run.group, run.variant, n * (1 + 0.01 * run.seed)) for n in numbers.values())
        )
        results.append(Result(run, {run.variant: {MEASURES[run.group]: series}}, seconds=0.1))
    return Evidence(results)


def test_it_is_found_by_its_name() -> None:
    assert registry.get("precision") is Precision


@pytest.mark.parametrize("size", ["quick", "full"])
def test_runs_can_be_built_and_seeds_draw_queries_and_keys_only(size: Size) -> None:
    runs = SUITE.runs(size, SEEDS)
    for run in runs:
        build_experiment(run.experiment, run.options)
    assert len({run.key for run in runs}) == len(runs) == 4 + len(TABLES) + 3 * len(ROTATIONS)
    assert {run.seed for run in runs if run.group in (IDS, SINES)} == {0}
    assert {run.seed for run in runs if run.group == LOGITS} == set(SEEDS)
    assert {place for run in runs if run.group == SINES for place in run.options["at"]} >= {1000, 2000, 20_000, 10**7}


@pytest.mark.parametrize("size", ["quick", "full"])
def test_pairs_compare_what_is_measured(size: Size) -> None:
    for pair in SUITE.pairs(size):
        for variant in (pair.a, pair.b):
            assert all(
                pair.at in run.options["at"] and run.experiment == pair.measure
                for run in SUITE.runs(size, SEEDS)
                if (run.group, run.variant) == (pair.group, variant)
            )


def test_what_arithmetic_gives_holds() -> None:
    assert [judgement.outcome for judgement in SUITE.judge(evidence(), "quick")] == ["holds"] * 15


WRONG: dict[str, tuple[str, str, Callable[[float], float]]] = {
    "bfloat16 keeps 641": (IDS, "bfloat16", lambda n: n + 1),
    "float16 keeps the first": (IDS, "float16", lambda n: n - 1),
    "float16 loses every second": (IDS, "float16", lambda n: n + 1),
    "float32 keeps 131,072": (IDS, "float32", lambda n: n - 1),
    "float32 angles are good": (SINES, "float32 angles", lambda n: 3 * n),
    "float32 angles are worthless": (SINES, "float32 angles", lambda n: n / 10),
    "Angles reduced in float64": (SINES, "gnomon", lambda n: 10 * n),
    "bfloat16 angles": (SINES, "bfloat16 angles", lambda n: n / 10),
    "float16 angles": (SINES, "float16 angles", lambda n: n / 10),
    "A finished table": (SINES, "finished float16 table", lambda n: 100 * n),
    "A shift does not change": (LOGITS, "float32", lambda n: 100 * n),
    "A shift changes": (LOGITS, "bfloat16 q and k", lambda n: n / 100),
    "Rounding queries and keys alone": (LOGITS, "bfloat16 q and k", lambda n: 10 * n),
    "Angles in bfloat16 do more harm": (LOGITS, "all bfloat16", lambda n: n / 1000),
    "With angles in bfloat16 as well": (LOGITS, "all bfloat16", lambda n: n / 10),
}


@pytest.mark.parametrize("statement", list(WRONG))
def test_each_expectation_fails_when_its_number_is_wrong(statement: str) -> None:
    group, variant, change = WRONG[statement]
    judged = SUITE.judge(evidence(lambda g, v, value: change(value) if (g, v) == (group, variant) else value), "quick")
    [judgement] = [each for each in judged if each.statement.startswith(statement)]
    assert judgement.outcome == "fails"
    assert judgement.source


def test_nothing_measured_is_said_to_be_not_measured() -> None:
    assert {judgement.outcome for judgement in SUITE.judge(Evidence([]), "quick")} == {"not measured"}


def test_real_numbers_hold() -> None:
    results = []
    for run in SUITE.runs("quick", SEEDS):
        [series] = build_experiment(run.experiment, run.options).run(Context(run.seed)).measured.values()
        results.append(Result(run, {run.variant: series}, seconds=0.1))
    judged = SUITE.judge(Evidence(results), "quick")
    assert [each.seen for each in judged if each.outcome != "holds"] == []


def test_the_method_names_its_numbers() -> None:
    assert "10,000,000" in SUITE.method("quick")
    assert "100,000" in SUITE.method("quick")
    assert "1,000,000" in SUITE.method("full")
