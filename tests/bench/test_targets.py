"""A target can hold, fail, and be unknown; numbers decide, and made-up ones show it."""

import pytest

from gnomon.bench.targets import DISAGREE, DISTURBED, RULES, Kind, Target, judge
from gnomon.report.bench.results import MIB, CellResult, Row


def cell(*rows: Row, threads: int = 1) -> CellResult:
    return CellResult("made-up", "cell", "", threads, rows)


def row(name: str, seconds: float, **more: object) -> Row:
    return Row(name, (seconds, seconds, seconds), **more)  # type: ignore[arg-type]


PAIRS: list[tuple[Kind, Row, Row, float]] = [
    ("time", row("ours", 1.0), row("other", 1.0), 1.1),
    ("speed-up", row("ours", 1.0), row("other", 3.0), 2.0),
    ("seconds", row("ours", 1e-6), row("other", 1.0), 2e-6),
    ("error", row("ours", 1.0, error=1e-7), row("other", 1.0), 2e-7),
    ("memory", Row("ours", peak=3 * MIB), Row("other", peak=2 * MIB), 2.0),
    ("memory above", Row("ours", peak=10 * MIB), Row("other", peak=2 * MIB), 9.0),
    ("memory size", Row("ours", peak=10 * MIB), Row("other"), 11.0),
]


@pytest.mark.parametrize(("kind", "ours", "other", "bound"), PAIRS)
def test_a_target_holds_within_its_bound_and_fails_beyond_it(kind: Kind, ours: Row, other: Row, bound: float) -> None:
    beyond = 4 * bound if RULES[kind].at_least else bound / 4
    verdicts = [judge(Target("T", "s", kind, "ours", b, ("other",)), cell(other, ours)) for b in (bound, beyond)]
    assert [verdict.holds for verdict in verdicts] == [True, False]


def test_every_kind_is_judged_above() -> None:
    assert {kind for kind, *_ in PAIRS} | {"threads"} == set(RULES)


@pytest.mark.parametrize(("seconds", "holds"), [(0.6, True), (0.9, False)])
def test_more_threads_are_held_against_the_same_row_with_one(seconds: float, holds: bool) -> None:
    target = Target("P2", "s", "threads", "ours", 1.4, threads=2)
    alone, both = cell(row("ours", 1.0)), cell(row("ours", seconds), threads=2)
    verdict = judge(target, both, single=alone)
    assert verdict.holds is holds
    assert verdict.value == pytest.approx(1.0 / seconds)


def test_of_several_others_the_fastest_counts() -> None:
    rows = (row("ours", 1.0), row("slow", 9.0), row("fast", 0.5))
    verdict = judge(Target("T", "s", "speed-up", "ours", 1.0, ("slow", "fast")), cell(*rows))
    assert verdict.holds is False
    assert verdict.value == pytest.approx(0.5)


def test_an_other_that_is_missing_does_not_hide_the_rest() -> None:
    rows = (row("ours", 1.0), Row("absent", missing="not installed"), row("there", 2.0))
    assert judge(Target("T", "s", "speed-up", "ours", 1.5, ("absent", "there")), cell(*rows)).holds is True


def test_what_was_not_measured_is_no_pass_and_says_why() -> None:
    target = Target("T", "s", "speed-up", "ours", 1.5, ("absent",))
    verdict = judge(target, cell(row("ours", 1.0), Row("absent", missing="not installed")))
    assert (verdict.holds, verdict.why) == (None, "absent: not installed")
    assert judge(target, cell(row("absent", 1.0))).why == "ours: not part of this run"
    assert judge(Target("P2", "s", "threads", "ours", 1.4, threads=2), cell(row("ours", 1.0), threads=2)).holds is None


def test_a_sentence_about_all_peers_names_those_that_were_measured_and_counts_the_others() -> None:
    target = Target("T", "faster than {others}", "speed-up", "ours", 1.0, ("a", "b", "c", "d"))
    rows = (row("ours", 1.0), row("a", 2.0), Row("b", missing="full form only"), row("c", 3.0))
    verdict = judge(target, cell(*rows))
    assert (verdict.holds, verdict.sentence) == (True, "faster than a and c (2 not measured: b, d)")
    all_there = judge(target, cell(row("ours", 1.0), *(row(name, 2.0) for name in "abcd")))
    assert all_there.sentence == "faster than a and b and c and d"


def test_without_a_peer_there_is_no_verdict_and_each_reason_is_given() -> None:
    target = Target("T", "faster than {others}", "speed-up", "ours", 1.0, ("a", "b"))
    verdict = judge(target, cell(row("ours", 1.0), Row("a", missing="not installed")))
    assert (verdict.holds, verdict.value, verdict.sentence) == (None, None, "faster than a and b")
    assert verdict.why == "a: not installed; b: not part of this run"


STEADY = Row("copy", (1.0, 1.0, 1.0, 1.0, 1.0))
BETWEEN = Row("ours", (1.0, 1.25, 1.25, 1.25, 1.25))  # 1.25 of the copy by medians, 1.0 by minima


@pytest.mark.parametrize(("bound", "holds", "why"), [(1.3, True, ""), (1.1, None, DISAGREE), (0.9, False, "")])
def test_medians_and_minima_both_decide(bound: float, holds: bool | None, why: str) -> None:
    verdict = judge(Target("R", "s", "time", "ours", bound, ("copy",)), cell(STEADY, BETWEEN))
    assert (verdict.holds, verdict.why) == (holds, why)
    assert (verdict.value, verdict.least) == (1.25, 1.0)


UNEVEN = (1.0, 16.0, 16.0, 16.0, 16.0)  # the quartiles say nothing: a spread of 0%
DRIFTING = (1.0, 1.0, 1.1, 1.25, 1.25)
LEANING = (1.0, 1.0, 1.0, 1.1, 1.1)


@pytest.mark.parametrize(
    ("base", "ours", "against", "unsteady"),
    [
        (STEADY.seconds, UNEVEN, STEADY.seconds, ("ours",)),
        (STEADY.seconds, STEADY.seconds, UNEVEN, ("clone",)),
        (DRIFTING, STEADY.seconds, STEADY.seconds, ("copy",)),
        (LEANING, STEADY.seconds, STEADY.seconds, ()),
        ((1.0, 2.0, 1.0, 2.0), STEADY.seconds, STEADY.seconds, ("copy",)),
        ((16.0, 16.0, 1.0, 16.0, 16.0, 16.0, 16.0), STEADY.seconds, STEADY.seconds, ("copy",)),
    ],
)
def test_a_busy_machine_gives_no_verdict_about_time(
    base: tuple[float, ...], ours: tuple[float, ...], against: tuple[float, ...], unsteady: tuple[str, ...]
) -> None:
    made = cell(Row("copy", base), Row("ours", ours, error=1.0), Row("clone", against), Row("bystander", UNEVEN))
    verdict = judge(Target("R", "s", "time", "ours", 0.01, ("clone",)), made)
    assert verdict.unsteady == unsteady
    assert (verdict.holds, verdict.why) == ((None, DISTURBED) if unsteady else (False, ""))
    assert (verdict.value is None, verdict.least is None) == (False, False)
    assert judge(Target("R", "s", "error", "ours", 0.1), made).holds is False


def test_a_busy_moment_with_one_thread_disturbs_what_is_held_against_it() -> None:
    target = Target("P2", "s", "threads", "ours", 1.4, threads=2)
    busy = cell(Row("copy", DRIFTING), row("ours", 1.0))
    assert judge(target, cell(STEADY, row("ours", 0.9), threads=2), single=busy).why == DISTURBED
