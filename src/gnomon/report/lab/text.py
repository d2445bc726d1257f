"""A study as text for a terminal or a log."""

from collections.abc import Iterator
from itertools import groupby

from gnomon.report.lab.columns import table_lines
from gnomon.report.lab.repeat import run_command
from gnomon.report.lab.study import Failure, Judgement, Study
from gnomon.report.lab.tables import tables
from gnomon.report.lab.words import CORRECTED, NOT_CORRECTED, compared, notes, summary, verdict
from gnomon.report.reading import pairs, plural
from gnomon.report.wrapping import wrap

INDENT = "  "


def render_text(study: Study, *, width: int = 80) -> str:
    """The study for a reader: judgements first, then tables, comparisons, failures, and how to repeat it.

    No line is wider than `width` columns, and a missing number is a dash with the reason below the table.

    >>> print(render_text(Study("copy", "Copying", "Which copy?", "None.", "quick", "gnomon lab copy")))
    gnomon lab copy (quick): Copying
    Which copy?
    <BLANKLINE>
    Nothing was expected.
    <BLANKLINE>
    Method
      None.
    <BLANKLINE>
    To repeat it
        gnomon lab copy
    <BLANKLINE>
    0 runs, 0.0 s in all.
    """
    blocks = [
        [*wrap(f"gnomon lab {study.suite} ({study.size}): {study.title}", width), *wrap(study.question, width)],
        [*wrap(verdict(study), width), *(line for j in study.judgements for line in _judgement(j, width))],
        *_tables(study, width),
        _section("Comparisons", _comparisons(study, width)),
        _section("Failures", (line for failure in study.failures for line in _failure(study, failure, width))),
        _section("Method", _indented(study.method, width)),
        _section("Sources", (line for source in study.sources for line in _indented(source, width))),
        _section("Notes", (line for note in notes(study) for line in _indented(note, width))),
        _section("Environment", _indented(pairs(study.environment), width) if study.environment else ()),
        _section("To repeat it", _command(study.command, width)),
        wrap(summary(study), width),
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block)


def _judgement(judgement: Judgement, width: int) -> Iterator[str]:
    yield ""
    yield from wrap(f"{judgement.outcome}: {judgement.statement}", width, first=INDENT, rest=INDENT * 2)
    for label, text in (("seen", judgement.seen), ("source", judgement.source)):
        if text:
            yield from wrap(text, width, first=f"    {label:<8}", rest=" " * 12)


def _tables(study: Study, width: int) -> Iterator[list[str]]:
    for table in tables(study):
        seeds = f"mean ± standard deviation over {plural(len(table.seeds), 'seed')}"
        if len(table.seeds) < 2:
            seeds = "one seed"
        yield [*wrap(f"{table.title}, {seeds}", width), *table_lines(table, width)]


def _comparisons(study: Study, width: int) -> Iterator[str]:
    for group, members in groupby(study.comparisons, key=lambda one: one.group):
        yield from wrap(group, width, first=INDENT, rest=INDENT)
        for one in members:
            yield from wrap(compared(one, study.info(one.measure)), width, first=INDENT * 2, rest=INDENT * 3)
    if study.comparisons:
        yield from wrap(f"{NOT_CORRECTED} {CORRECTED}", width, first=INDENT, rest=INDENT)


def _failure(study: Study, failure: Failure, width: int) -> Iterator[str]:
    run = failure.run
    yield from wrap(
        f"{run.group}, {run.variant}, seed {run.seed}: {failure.message}", width, first=INDENT, rest=INDENT * 2
    )
    yield from _command(run_command(study, run), width)


def _section(heading: str, lines: Iterator[str] | tuple[str, ...]) -> list[str]:
    found = list(lines)
    return [heading, *found] if found else []


def _indented(text: str, width: int) -> Iterator[str]:
    yield from wrap(text, width, first=INDENT, rest=INDENT)


def _command(text: str, width: int) -> Iterator[str]:
    """A command that does not fit into a line goes on in the next, as a shell reads it."""
    *most, last = wrap(text, width - 2, first=INDENT * 2, rest=INDENT * 2)
    yield from (f"{line} \\" for line in most)
    yield last
