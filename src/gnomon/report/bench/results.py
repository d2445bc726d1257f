"""What was measured, as plain data: rows of one cell, the targets held against them, and all of one run."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from statistics import median, quantiles
from typing import Any

SCHEMA_VERSION = 1
DISTURBED = 0.25  #: a baseline whose rounds spread further than this says that the machine was busy
DRIFT = 0.2  #: so does one whose later rounds are so much slower or faster than its earlier ones
UNEVEN = 1.5  #: and any row whose median is more than so many times its minimum
FEW = 4  #: rounds below which nothing is said of a drift
MIB = 1 << 20


@dataclass(frozen=True)
class Row:
    """One way to do the work of a cell: seconds of a call in each round, peak bytes, largest error; what there is.

    `error` is the largest difference from the result in float64. A row that could not be measured says why in
    `missing`.
    """

    name: str
    seconds: tuple[float, ...] = ()
    peak: int | None = None
    error: float | None = None
    missing: str = ""

    @property
    def median(self) -> float | None:
        return median(self.seconds) if self.seconds else None

    @property
    def least(self) -> float | None:
        return min(self.seconds) if self.seconds else None

    @property
    def spread(self) -> float | None:
        """The distance between the quartiles of the rounds, as a part of the median; None for fewer than two.

        >>> Row("copy", (1.0, 1.0, 1.2, 1.4, 1.4)).spread
        0.333...
        """
        if len(self.seconds) < 2 or not self.median:
            return None
        low, _, high = quantiles(self.seconds, n=4, method="inclusive")
        return (high - low) / self.median

    @property
    def drift(self) -> float:
        """How far the median of the later half of the rounds is from that of the earlier, as a part of the smaller.

        >>> Row("copy", (1.0, 1.0, 1.2, 1.5, 1.5)).drift
        0.5
        """
        half = len(self.seconds) // 2
        if len(self.seconds) < FEW:
            return 0.0
        low, high = sorted((median(self.seconds[:half]), median(self.seconds[-half:])))
        return high / low - 1 if low else 0.0

    @property
    def uneven(self) -> bool:
        """Whether some rounds were far faster than most: then medians and minima tell different things."""
        return bool(self.seconds) and median(self.seconds) > UNEVEN * min(self.seconds)

    @property
    def unsteady(self) -> bool:
        """Whether its rounds spread, drift or are uneven so far that it says that the machine was busy."""
        return (self.spread or 0.0) > DISTURBED or self.drift > DRIFT or self.uneven

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "median": self.median, "least": self.least, "spread": self.spread}


@dataclass(frozen=True)
class Verdict:
    """One target held against one cell, by the medians of the rounds (`value`) and by their minima (`least`).

    `holds` is None where `why` says why: a row that it needs was not measured, medians and minima disagree, or the
    rows named in `unsteady` say that the machine was busy. `least` is None for what is not about time.
    """

    code: str
    sentence: str
    holds: bool | None
    value: float | None
    bound: float
    unit: str  #: of value and bound: "x", "s", "MiB" or "" for an error
    at_least: bool  #: whether the value has to reach the bound, or may not pass it
    why: str = ""
    least: float | None = None
    unsteady: tuple[str, ...] = ()


@dataclass(frozen=True)
class CellResult:
    """One table of a benchmark: rows that were measured in turns, with the first as the baseline of the ratios.

    `regime` says where results go: into given memory, or into fresh memory, below or above the 32 MiB from which
    glibc asks the system for each block, which then pays for page faults. `bars`: a reader sees bars as well.
    """

    bench: str
    title: str
    regime: str
    threads: int
    rows: tuple[Row, ...]
    verdicts: tuple[Verdict, ...] = ()
    bars: bool = False

    @property
    def baseline(self) -> Row:
        return self.rows[0]

    @property
    def disturbed(self) -> bool:
        """Whether the rounds of the baseline, or of a row of a target, say that ratios of this cell mean little."""
        return self.baseline.unsteady or any(verdict.unsteady for verdict in self.verdicts)

    def row(self, name: str) -> Row | None:
        """The row of that name, if there is one."""
        return next((row for row in self.rows if row.name == name), None)

    def to_dict(self) -> dict[str, Any]:
        return {
            **asdict(self),
            "rows": [{**row.to_dict(), **self.ratios(row)} for row in self.rows],
            "disturbed": self.disturbed,
        }

    def ratios(self, row: Row) -> dict[str, float | None]:
        """What a row takes, as parts of what the baseline takes."""
        return {
            "time_ratio": _ratio(row.median, self.baseline.median),
            "least_ratio": _ratio(row.least, self.baseline.least),
            "memory_ratio": _ratio(row.peak, self.baseline.peak),
        }


@dataclass(frozen=True)
class Benchmarks:
    """All of one run of `gnomon bench`: where and how it was made, its cells, and what could not be measured."""

    size: str  #: "quick" or "full"
    command: str
    environment: Mapping[str, str]
    cells: tuple[CellResult, ...]
    notes: tuple[str, ...] = ()
    seconds: float = 0.0

    def to_json(self) -> str:
        """One JSON object; times in seconds, memory in bytes."""
        told = {
            "schema": SCHEMA_VERSION,
            **self.__dict__,
            "environment": dict(self.environment),
            "cells": [cell.to_dict() for cell in self.cells],
        }
        return json.dumps(told, indent=1)


def _ratio(value: float | None, baseline: float | None) -> float | None:
    return value / baseline if value is not None and baseline else None
