"""Targets: what a row must reach against another, judged from measured numbers alone."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from gnomon.report.bench.results import MIB, CellResult, Row, Verdict

Kind = Literal["time", "speed-up", "seconds", "error", "memory", "memory above", "memory size", "threads"]
OTHERS = "{others}"  #: in a sentence: the rows that were measured, and which were not
DISTURBED, DISAGREE = "disturbed: run again on a quiet machine", "medians and minima disagree: run again"


@dataclass(frozen=True)
class Target:
    """One sentence that a cell can hold or not.

    `kind` says what is compared with `bound`, of the row `ours` and the rows `against`, of which the worst counts:

    - "time": seconds as parts of theirs, at most. "speed-up": their seconds as multiples of ours, at least.
    - "seconds", "error", "memory size" (MiB): of ours, at most.
    - "memory": bytes as parts of theirs, at most. "memory above": MiB more than theirs, at most.
    - "threads": seconds of the same row with one thread as multiples of ours, at least.

    `threads`: the target is for cells of so many threads. A sentence about all of `against` names them by `OTHERS`.
    """

    code: str
    sentence: str
    kind: Kind
    ours: str
    bound: float
    against: tuple[str, ...] = ()
    threads: int = 1


@dataclass(frozen=True)
class _Rule:
    unit: str
    at_least: bool
    value: Callable[[Row, list[Row]], float | None]
    timed: bool = False  #: whether it is about seconds, which a busy machine disturbs

    def reached(self, value: float, bound: float) -> bool:
        return value >= bound if self.at_least else value <= bound


def judge(target: Target, cell: CellResult, *, single: CellResult | None = None) -> Verdict:
    """The target held against a cell. `single` is the same cell with one thread, for targets of kind "threads".

    Times are judged by their medians and by their minima. Where these disagree, and where the baseline or a row of the
    target says that the machine was busy, there is no verdict.
    """
    rule, ours = RULES[target.kind], cell.row(target.ours)
    others = [cell.row(name) for name in target.against]
    if target.kind == "threads":
        others = [None if single is None else single.row(target.ours)]
    known = [row for row in others if row is not None and not row.missing]
    verdict = Verdict(target.code, _sentence(target, known), None, None, target.bound, rule.unit, rule.at_least)
    value = None if ours is None else rule.value(ours, known)
    if ours is None or value is None:
        return replace(verdict, why=_why(target, ours, others))
    holds = rule.reached(value, target.bound)
    if not rule.timed:
        return replace(verdict, value=value, holds=holds)
    least = rule.value(_fastest(ours), [_fastest(row) for row in known])
    unsteady = tuple(_unsteady([cell, *([single] if single and target.kind == "threads" else [])], [ours, *known]))
    verdict = replace(verdict, value=value, least=least, unsteady=unsteady)
    if unsteady:
        return replace(verdict, why=DISTURBED)
    if least is None or rule.reached(least, target.bound) != holds:
        return replace(verdict, why=DISAGREE)
    return replace(verdict, holds=holds)


def _sentence(target: Target, known: Sequence[Row]) -> str:
    """With the names of the rows that were measured, and how many and which were not."""
    there = [row.name for row in known]
    absent = [name for name in target.against if name not in there]
    left_out = f" ({len(absent)} not measured: {', '.join(absent)})" if there and absent else ""
    return target.sentence.replace(OTHERS, " and ".join(there or target.against) + left_out)


def _why(target: Target, ours: Row | None, others: list[Row | None]) -> str:
    """Why a number is missing: the reason of each row that has one."""
    if ours is None or ours.missing:
        return f"{target.ours}: {ours.missing if ours else 'not part of this run'}"
    named = zip(others, target.against or (target.ours,), strict=True)
    reasons = [
        f"{name}: {row.missing if row else 'not part of this run'}" for row, name in named if not row or row.missing
    ]
    return "; ".join(reasons) or "not measured"


def _unsteady(cells: Sequence[CellResult], rows: Sequence[Row]) -> dict[str, None]:
    """Names of rows whose rounds say that the machine was busy: baselines, and what the target compares."""
    first = [cell.baseline for cell in cells]
    return dict.fromkeys([row.name for row in first if row.unsteady] + [row.name for row in rows if row.uneven])


def _fastest(row: Row) -> Row:
    return replace(row, seconds=row.seconds and (min(row.seconds),))


def _worst_time(ours: Row, others: list[Row]) -> float | None:
    known = [row.median for row in others if row.median]
    return None if ours.median is None or not known else ours.median / min(known)


def _worst_speed_up(ours: Row, others: list[Row]) -> float | None:
    slower = _worst_time(ours, others)
    return 1 / slower if slower else None


def _memory(ours: Row, others: list[Row]) -> float | None:
    known = [row.peak for row in others if row.peak]
    return None if ours.peak is None or not known else ours.peak / min(known)


def _memory_above(ours: Row, others: list[Row]) -> float | None:
    known = [row.peak for row in others if row.peak is not None]
    return None if ours.peak is None or not known else (ours.peak - min(known)) / MIB


RULES: Final[Mapping[Kind, _Rule]] = {
    "time": _Rule("x", False, _worst_time, timed=True),
    "speed-up": _Rule("x", True, _worst_speed_up, timed=True),
    "threads": _Rule("x", True, _worst_speed_up, timed=True),
    "seconds": _Rule("s", False, lambda ours, _: ours.median, timed=True),
    "error": _Rule("", False, lambda ours, _: ours.error),
    "memory": _Rule("x", False, _memory),
    "memory above": _Rule("MiB", False, _memory_above),
    "memory size": _Rule("MiB", False, lambda ours, _: None if ours.peak is None else ours.peak / MIB),
}
