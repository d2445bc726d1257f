"""Many configs beside many stacks as a table of one word for each pair."""

from collections.abc import Iterator, Sequence

from gnomon.report.lab.columns import Grid
from gnomon.report.resolved.document import Resolution, label_of
from gnomon.report.resolved.words import MARKS
from gnomon.report.wrapping import wrap

LEGEND = (
    "ref: what the others are held against; =: the same but for rounding; DIFF: other angles or logits at one of the "
    "compared lengths; stop: ends with an error; .: no such model, or not traced; ?: served where the reference is not;"
    " BROKE: gnomon's own reader broke, which says nothing of the engine"
)


def render_matrix(found: Sequence[Resolution], *, width: int = 100) -> str:
    """A row for each config, a column for each stack; blocks of columns where they do not fit side by side."""
    columns = {column.name: column for each in found for column in each.columns}
    names, labels = list(columns), [label_of(column, columns.values()) for column in columns.values()]
    rows = [(each.target, _cells(each, names)) for each in found]
    return "\n".join([*Grid(labels, rows, width).lines(), "", *wrap(LEGEND, width), "", *_counts(found)])


def _cells(found: Resolution, names: Sequence[str]) -> list[str]:
    marks = {column.name: MARKS[column.verdict][1] for column in found.columns}
    return [marks.get(name, "") for name in names]


def _counts(found: Sequence[Resolution]) -> Iterator[str]:
    verdicts = [column.verdict for each in found for column in each.columns]
    told = ("equal", "differs", "stops", "absent", *(("broken",) if "broken" in verdicts else ()))
    words = (f"{verdicts.count(verdict)} {verdict}" for verdict in told)
    yield f"{len(found)} configs: {', '.join(words)}"
