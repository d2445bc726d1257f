"""Evidence from cells that are written down: (group, variant, measure, place) to one number for each seed."""

from collections.abc import Mapping, Sequence

from gnomon.report.lab.evidence import Evidence
from gnomon.report.lab.results import Result, Run, Series

Cell = tuple[str, str, str, float | None]  #: place None: a measure that is one number
Numbers = Sequence[float | None]


def evidence_in(cells: Mapping[Cell, Numbers]) -> Evidence:
    """A number None could not be measured."""
    rows: dict[tuple[str, str, str], dict[float | None, Numbers]] = {}
    for (group, variant, measure, at), numbers in cells.items():
        rows.setdefault((group, variant, measure), {})[at] = numbers
    results = []
    for (group, variant, measure), row in rows.items():
        places = tuple(at for at in row if at is not None)
        for seed in range(len(next(iter(row.values())))):
            series = Series(places, tuple(numbers[seed] for numbers in row.values()))
            results.append(Result(Run("train", group, variant, seed), {variant: {measure: series}}, seconds=1.0))
    return Evidence(results)
