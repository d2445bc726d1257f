"""Sentences about numbers, and how numbers are written."""

import pytest

from gnomon.report.lab.results import MeasureInfo, Run
from gnomon.report.lab.spread import Spread
from gnomon.report.lab.study import Comparison, Failure, Judgement, Ranking, Study
from gnomon.report.lab.words import compared, duration, ranked, summary, verdict, written, written_spread

MATCH = MeasureInfo("match", "exact match", "share", "length", "higher")
RATIO = MeasureInfo("ratio", "ratio")


def comparison(low: float | None, high: float | None, at: float | None = 64.0, seeds: int = 3) -> Comparison:
    middle = 0.25 if low is None or high is None else (low + high) / 2
    return Comparison("copy", "match", at, "a", "b", seeds, middle, low, high)


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0.1, 0.4, "a is higher (better) than b by 0.250 share (95% interval 0.100 to 0.400, 3 seeds)."),
        (-0.4, -0.1, "a is lower (worse) than b by 0.250 share (95% interval 0.100 to 0.400, 3 seeds)."),
        (0.25, 0.25, "a is higher (better) than b by 0.250 share (the same in each of 3 seeds)."),
        (
            -0.1,
            0.4,
            "no difference seen between a and b (a - b = 0.150 share, 95% interval -0.100 to 0.400, 3 seeds).",
        ),
        (0.0, 0.0, "no difference seen between a and b (a - b = 0 share, 95% interval 0 to 0, 3 seeds)."),
        (None, None, "one seed, no comparison (a - b = 0.250 share)."),
    ],
)
def test_a_comparison_says_what_was_seen(low: float | None, high: float | None, expected: str) -> None:
    assert compared(comparison(low, high), MATCH) == f"exact match at length 64: {expected}"


def test_a_measure_without_a_better_end_is_only_higher_or_lower() -> None:
    assert compared(comparison(1.0, 2.0, at=None), RATIO) == (
        "ratio: a is higher than b by 1.50 (95% interval 1.00 to 2.00, 3 seeds)."
    )


@pytest.mark.parametrize(
    ("number", "expected"),
    [(999.96, "1000"), (0.0009, "0.0009"), (1e-9, "1e-09"), (123456.7, "123457"), (2e9, "2e+09"), (-0.5, "-0.500")],
)
def test_numbers_have_three_digits_or_more(number: float, expected: str) -> None:
    assert written(number) == expected


@pytest.mark.parametrize(
    ("spread", "expected"),
    [
        (Spread(0.0, 0.0, 0.0, 0.0, 3), "0 ± 0"),
        (Spread(0.02, -0.3, 0.4, 0.35, 3), "0.020 ± 0.350"),
        (Spread(8200.0, 8000.0, 8400.0, 150.0, 3), "8200 ± 150"),
        (Spread(0.0005, 0.0004, 0.0006, 0.00012, 3), "0.0005 ± 0.00012"),
    ],
)
def test_a_spread_has_the_digits_of_its_mean(spread: Spread, expected: str) -> None:
    assert written_spread(spread) == expected


def test_a_ranking_that_decides_nothing_names_no_best() -> None:
    tied = Ranking("copy", "match", 64.0, ("a", "b", "c"), (3.0, 2.0, 1.0), (("b", "a"), ("a", "c")), 3)
    assert tied.best == ("a", "b", "c")
    assert ranked(tied, MATCH) == (
        "exact match at length 64: no difference seen between a, whose mean is best, and any other."
    )
    clear = Ranking("copy", "match", None, ("a", "b"), (3.0, 2.0), (), 3)
    assert ranked(clear, MATCH) == "exact match: best a."


def test_the_verdict_counts_outcomes_with_the_worst_news_first() -> None:
    def judged(*outcomes: str) -> str:
        judgements = tuple(Judgement("s", "", outcome, "") for outcome in outcomes)  # type: ignore[arg-type]
        return verdict(Study("copy", "", "", "", "quick", "", judgements=judgements))

    assert judged("holds", "holds", "fails") == "Of 3 expectations, 1 fails and 2 hold."
    assert judged("holds") == "Of 1 expectation, 1 holds."
    assert judged("not measured", "no difference seen", "not measured") == (
        "Of 3 expectations, 1 showed no difference and 2 were not measured."
    )


def test_the_summary_counts_failed_runs() -> None:
    failure = Failure(Run("train", "copy", "a", 0), "no")
    assert summary(Study("copy", "", "", "", "quick", "", failures=(failure,), seconds=61.0)) == (
        "0 runs, 1 failed, 1 min 1 s in all."
    )


@pytest.mark.parametrize(("seconds", "expected"), [(59.96, "60.0 s"), (60.4, "1 min 0 s"), (3599.6, "1 h 0 min")])
def test_durations_at_the_borders(seconds: float, expected: str) -> None:
    assert duration(seconds) == expected
