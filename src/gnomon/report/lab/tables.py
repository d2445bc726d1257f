"""The results of a study as tables: a row for each variant, a column for each measure or each place of one."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import final

from gnomon.report.lab.evidence import Evidence
from gnomon.report.lab.results import MeasureInfo
from gnomon.report.lab.spread import Spread, spread
from gnomon.report.lab.study import Ranking, Study
from gnomon.report.lab.words import ranked, written_spread
from gnomon.report.reading import join, plural

MOST_PLACES = 8  #: of a measure with an axis in one table; the CSV and JSON forms have all


@final
@dataclass(frozen=True)
class Cell:
    """What one variant has in one column. `best` is only marked where a ranking says that another is worse."""

    by_seed: dict[int, float]
    best: bool = False

    @property
    def spread(self) -> Spread | None:
        return spread(self.by_seed) if self.by_seed else None

    def text(self, seeds: int) -> str:
        """Mean ± standard deviation, and how many seeds where it is not all `seeds` of the table; - for no number.

        >>> Cell({0: 1.0, 2: 3.0}).text(seeds=3), Cell({}).text(seeds=3)
        ('2.00 ± 1.41 (2 seeds)', '-')
        """
        if self.spread is None:
            return "-"
        few = f" ({plural(self.spread.seeds, 'seed')})" if self.spread.seeds < seeds else ""
        return written_spread(self.spread) + few


@final
@dataclass(frozen=True)
class Column:
    """One measure at one place."""

    info: MeasureInfo
    at: float | None
    ranking: Ranking | None

    @property
    def label(self) -> str:
        if self.at is not None:
            return f"{self.at:g}"
        return f"{self.info.title} ({self.info.unit})" if self.info.unit else self.info.title


@final
@dataclass(frozen=True)
class Table:
    """`notes` say why numbers are missing, what may be said of the best, and which places were left out."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]
    seeds: tuple[int, ...]
    notes: tuple[str, ...]


def tables(study: Study) -> tuple[Table, ...]:
    """For each group one table of the measures that are one number, and one for each measure with an axis."""
    evidence = Evidence(study.results)
    return tuple(table for group in evidence.groups() for table in _of_group(study, evidence, group))


def chosen(places: Sequence[float | None], most: int = MOST_PLACES) -> list[float | None]:
    """At most so many places, the first and the last among them, evenly between.

    >>> chosen([float(n) for n in range(101)], most=5)
    [0.0, 25.0, 50.0, 75.0, 100.0]
    """
    if len(places) <= most:
        return list(places)
    return [places[round(index * (len(places) - 1) / (most - 1))] for index in range(most)]


def _of_group(study: Study, evidence: Evidence, group: str) -> Iterator[Table]:
    taken = evidence.measures(group)
    known = [info for info in study.measures if info.name in taken]
    places = {info.name: evidence.places(group, info.name) for info in known}
    # Measures that are one number stand together; each other one by itself.
    keyed = [("" if places[info.name] == [None] else info.name, info) for info in known]
    for name in sorted({name for name, _ in keyed}, key=[name for name, _ in keyed].index):
        infos = [info for key, info in keyed if key == name]
        wanted = [(info, at) for info in infos for at in chosen(places[info.name])]
        left_out = len(places[name]) - len(wanted) if name else 0
        yield _table(study, evidence, group, _title(group, infos[0] if name else None), wanted, left_out)


def _title(group: str, info: MeasureInfo | None) -> str:
    if info is None:
        return group
    unit = f" ({info.unit})" if info.unit else ""
    return f"{group}: {info.title}{unit} by {info.axis or 'place'}"


def _table(
    study: Study,
    evidence: Evidence,
    group: str,
    title: str,
    wanted: Sequence[tuple[MeasureInfo, float | None]],
    left_out: int,
) -> Table:
    found = {(r.group, r.measure, r.at): r for r in study.rankings}
    columns = tuple(Column(info, at, found.get((group, info.name, at))) for info, at in wanted)
    rows = tuple(
        (variant, tuple(_cell(evidence, group, variant, column) for column in columns))
        for variant in evidence.variants(group)
    )
    seeds = tuple(sorted({seed for _, cells in rows for cell in cells for seed in cell.by_seed}))
    notes = [*_reasons(evidence, group, evidence.variants(group), columns), *_rankings(columns, rows)]
    if left_out:
        notes.append(f"{left_out} more places are in the CSV and JSON forms.")
    return Table(title, columns, rows, seeds, tuple(notes))


def _cell(evidence: Evidence, group: str, variant: str, column: Column) -> Cell:
    ranking = column.ranking
    marked = ranking is not None and len(ranking.best) < len(ranking.names) and variant in ranking.best
    return Cell(evidence.by_seed(group, variant, column.info.name, column.at), marked)


def _reasons(evidence: Evidence, group: str, variants: Sequence[str], columns: Sequence[Column]) -> Iterator[str]:
    """Why numbers are missing, once for each variant, its seeds and the reason."""
    lacking: dict[tuple[str, str, str], list[str]] = {}
    for variant in variants:
        for column in columns:
            series = evidence.series(group, variant, column.info.name)
            without = {seed: one for seed, one in series.items() if one.value(column.at) is None}
            if without or not series:
                why = next((one.why for one in without.values() if one.why), "not measured")
                lacking.setdefault((variant, _seeds(without, series), why), []).append(column.label)
    for (variant, seeds, why), labels in lacking.items():
        yield f"{variant} has no number at {', '.join(labels)}{seeds}: {why}."


def _seeds(without: Collection[int], all_: Collection[int]) -> str:
    return f" with seed {join([str(seed) for seed in without])}" if len(without) < len(all_) else ""


def _rankings(columns: Sequence[Column], rows: Sequence[tuple[str, tuple[Cell, ...]]]) -> list[str]:
    """A sentence for each column that has a better end, where there is something to rank; equal ones once."""
    sentences = [
        ranked(column.ranking, column.info)
        for index, column in enumerate(columns)
        if column.info.better is not None and sum(bool(cells[index].by_seed) for _, cells in rows) > 1
    ]
    return list(dict.fromkeys(sentences))
