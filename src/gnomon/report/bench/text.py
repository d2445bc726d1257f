"""Benchmarks as text for a terminal: tables of ratios, targets under each, and at the end what holds here."""

from collections.abc import Callable, Iterator
from itertools import groupby

from gnomon.report.bench.results import MIB, Benchmarks, CellResult, Row, Verdict
from gnomon.report.bench.words import bytes_word, number_word, seconds_word, seen_words, verdict_words
from gnomon.report.lab.columns import Grid
from gnomon.report.reading import pairs, plural
from gnomon.report.wrapping import wrap

INDENT, BAR = "  ", "█"
WIDEST_BAR = 40
Show = Callable[[CellResult, Row], str]


def render_text(found: Benchmarks, *, width: int = 80) -> str:
    """All cells and what was held against them; no line is wider than `width` columns, and nothing is cut.

    >>> print(render_text(Benchmarks("quick", "gnomon bench", {"cpu": "one"}, ())))
    gnomon bench (quick): what each way takes, as a part of what the first row takes
    <BLANKLINE>
    Environment
      cpu one
    <BLANKLINE>
    No target was held against a measurement.
    <BLANKLINE>
    To repeat it
      gnomon bench
    <BLANKLINE>
    0 cells, 0 s in all.
    """
    title = f"gnomon bench ({found.size}): what each way takes, as a part of what the first row takes"
    blocks = [
        wrap(title, width),
        *(list(_cell(cell, width)) for cell in found.cells),
        ["Environment", *wrap(pairs(found.environment), width, first=INDENT, rest=INDENT)],
        list(_summary(found, width)),
        [line for note in found.notes for line in wrap(note, width)],
        ["To repeat it", *wrap(found.command, width, first=INDENT, rest=INDENT)],
        wrap(f"{plural(len(found.cells), 'cell')}, {found.seconds:.0f} s in all.", width),
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block)


def _cell(cell: CellResult, width: int) -> Iterator[str]:
    yield from wrap(f"{cell.bench}: {cell.title}; {plural(cell.threads, 'thread')}", width)
    if cell.regime:
        yield from wrap(cell.regime, width, first=INDENT, rest=INDENT)
    measured = [row for row in cell.rows if not row.missing]
    shown = {label: show for label, show in COLUMNS.items() if any(show(cell, row) for row in measured)}
    rows = [(row.name, [show(cell, row) for show in shown.values()]) for row in measured]
    if measured:
        yield from Grid(list(shown), rows, width).lines()
    if cell.bars:
        yield from _bars(cell, width)
    for row in cell.rows:
        if row.missing:
            yield from wrap(f"{row.name}: not measured, {row.missing}", width, rest=INDENT)
    if cell.disturbed:
        yield from wrap(f"Disturbed: the rounds of {_unsteady(cell)} are unsteady; ratios here say little.", width)
    for verdict in cell.verdicts:
        yield from wrap(verdict_words(verdict), width, first=INDENT, rest=INDENT * 2)


def _unsteady(cell: CellResult) -> str:
    """The rows whose rounds say that the machine was busy, each once."""
    first = (cell.baseline.name,) if cell.baseline.unsteady else ()
    return " and of ".join(dict.fromkeys((*first, *(name for one in cell.verdicts for name in one.unsteady))))


def _seconds(value: Callable[[Row], float | None]) -> Show:
    def show(cell: CellResult, row: Row) -> str:
        seconds = value(row)
        return "" if seconds is None else seconds_word(seconds)

    return show


def _ratio(name: str) -> Show:
    def show(cell: CellResult, row: Row) -> str:
        ratio = cell.ratios(row)[name]
        return "" if ratio is None else number_word(ratio)

    return show


#: What a column is called, and its words for a row; a column without any is left out.
COLUMNS: dict[str, Show] = {
    "ratio": _ratio("time_ratio"),
    "ratio of minima": _ratio("least_ratio"),
    "median": _seconds(lambda row: row.median),
    "minimum": _seconds(lambda row: row.least),
    "spread": lambda cell, row: "" if row.spread is None else f"{row.spread:.0%}",
    "largest error": lambda cell, row: "" if row.error is None else f"{row.error:.1e}",
    "peak memory": lambda cell, row: "" if row.peak is None else bytes_word(row.peak),
    "ratio of peaks": _ratio("memory_ratio"),
}


def _bars(cell: CellResult, width: int) -> Iterator[str]:
    """One bar for each row that was measured: peak memory, then median seconds."""
    told: dict[str, Callable[[Row], float | None]] = {
        "peak memory": lambda row: None if row.peak is None else row.peak / MIB,
        "median": lambda row: row.median,
    }
    for label, value in told.items():
        known = [(row, number) for row in cell.rows if (number := value(row)) is not None]
        most = max((number for _, number in known), default=0.0)
        if most > 0:
            yield ""
            yield f"{INDENT}{label}"
        for row, number in known if most > 0 else ():
            yield from wrap(row.name, width, first=INDENT, rest=INDENT)
            word = COLUMNS[label](cell, row)
            room = min(WIDEST_BAR, width - len(INDENT) - len(word) - 1)
            yield f"{INDENT}{BAR * max(1, round(room * number / most))} {word}"
    yield ""


def _summary(found: Benchmarks, width: int) -> Iterator[str]:
    """For each target, in how many cells it holds here, and where it does not."""
    judged = sorted(
        ((verdict, cell) for cell in found.cells for verdict in cell.verdicts), key=lambda pair: pair[0].code
    )
    if not judged:
        yield "No target was held against a measurement."
        return
    yield from wrap("Targets, as they hold on this machine in this run", width)
    for code, group in groupby(judged, key=lambda pair: pair[0].code):
        yield from _code(code, list(group), width)


def _code(code: str, judged: list[tuple[Verdict, CellResult]], width: int) -> Iterator[str]:
    known = [verdict for verdict, _ in judged if verdict.holds is not None]
    held = sum(verdict.holds is True for verdict in known)
    left_out = sum(verdict.value is None for verdict, _ in judged)
    undecided = len(judged) - len(known) - left_out
    more = f", {left_out} not measured" if left_out else ""
    more += f", {undecided} without a verdict in this run" if undecided else ""
    yield from wrap(f"{code}: {held} of {len(known)} hold{more}", width, first=INDENT, rest=INDENT * 2)
    for verdict, cell in judged:
        if verdict.holds is False:
            place = f"{cell.title}, {plural(cell.threads, 'thread')}"
            yield from wrap(f"not here: {seen_words(verdict)}; {place}", width, first=INDENT * 2, rest=INDENT * 3)
