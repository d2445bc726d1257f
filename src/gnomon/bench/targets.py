"""Targets: what a row must reach against another, judged from measured numbers alone."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from gnomon.report.bench.results import MIB, CellResult, Row, Verdict

Kind = Literal["time", "speed-up", "seconds", "error", "memory", "memory above", "memory size", "threads"]


@dataclass(frozen=True)
class Target:
    """One sentence that a cell can hold or not.

    `kind` says what is compared with `bound`, of the row `ours` and the rows `against`, of which the worst counts:

    - "time": seconds as parts of theirs, at most. "speed-up": their seconds as multiples of ours, at least.
    - "seconds", "error", "memory size" (MiB): of ours, at most.
    - "memory": bytes as parts of theirs, at most. "memory above": MiB more than theirs, at most.
    - "threads": seconds of the same row with one thread as multiples of ours, at least.

    `threads`: the target is for cells of so many threads.
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


def judge(target: Target, cell: CellResult, *, single: CellResult | None = None) -> Verdict:
    """The target held against a cell. `single` is the same cell with one thread, for targets of kind "threads"."""
    rule = RULES[target.kind]
    ours = cell.row(target.ours)
    others = [None if single is None else single.row(target.ours)]
    if target.kind != "threads":
        others = [cell.row(name) for name in target.against]
    value = None
    if ours is not None:
        value = rule.value(ours, [row for row in others if row is not None and not row.missing])
    holds = None if value is None else (value >= target.bound if rule.at_least else value <= target.bound)
    why = "" if value is not None else _why(target, ours, others)
    return Verdict(target.code, target.sentence, holds, value, target.bound, rule.unit, rule.at_least, why)


def _why(target: Target, ours: Row | None, others: list[Row | None]) -> str:
    """Why a number is missing: the reason of the first row that has one."""
    if ours is None or ours.missing:
        return f"{target.ours}: {ours.missing if ours else 'not part of this run'}"
    for row, name in zip(others, target.against or (target.ours,), strict=True):
        if row is None or row.missing:
            return f"{name}: {row.missing if row else 'not part of this run'}"
    return "not measured"


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
    "time": _Rule("x", False, _worst_time),
    "speed-up": _Rule("x", True, _worst_speed_up),
    "threads": _Rule("x", True, _worst_speed_up),
    "seconds": _Rule("s", False, lambda ours, _: ours.median),
    "error": _Rule("", False, lambda ours, _: ours.error),
    "memory": _Rule("x", False, _memory),
    "memory above": _Rule("MiB", False, _memory_above),
    "memory size": _Rule("MiB", False, lambda ours, _: None if ours.peak is None else ours.peak / MIB),
}
