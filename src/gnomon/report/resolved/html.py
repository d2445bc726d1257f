"""Resolutions as one self-contained page that opens offline: configs by stacks, and what is known of every square."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup, escape

from gnomon.plots.files import check_writable, write_whole
from gnomon.plots.webpage import render_page
from gnomon.report.reading import plural
from gnomon.report.resolved.cells import TONES, counterpart, ratios, rows
from gnomon.report.resolved.document import VERDICTS, Column, Resolution, label_of
from gnomon.report.resolved.words import VERDICT_WORDS, count_word, kind_word, number_word, value_word

PAGE = Path(__file__).parent.parent / "page"
WIDE, HIGH = 240, 44  #: of the small curve in a square's own text
LONGEST = 200  #: letters of a value of the file


def render_html(found: Sequence[Resolution], *, title: str | None = None) -> str:
    """The page of one config or of many. It makes no request to any address."""
    names = list(dict.fromkeys(column.name for each in found for column in each.columns))
    columns = [_first(found, name) for name in names]
    verdicts = [column.verdict for each in found for column in each.columns]
    title = title or (found[0].target if len(found) == 1 else "Which engine does what with my config")
    context: dict[str, Any] = {
        "page_title": f"gnomon resolve: {title}",
        "title": title,
        "found": found,
        "columns": columns,
        "labels": [label_of(column, columns) for column in columns],
        "rows": list(rows(found, names)),
        "counts": [
            (verdict, TONES[verdict], VERDICT_WORDS[verdict], verdicts.count(verdict))
            for verdict in VERDICTS
            if verdict in verdicts
        ],
        "configs": plural(len(found), "config"),
        "words": VERDICT_WORDS,
        "number": number_word,
        "count": count_word,
        "kind": kind_word,
        "short": _short,
        "code": _code,
        "curve": _curve,
    }
    return render_page(PAGE / "resolved.html", (), context, sheets=[PAGE / "report.css"])


def write_page(found: Sequence[Resolution], path: str | os.PathLike[str], *, title: str | None = None) -> None:
    """Write the page whole or not at all; raises GnomonError for a path that cannot be written."""
    check_writable(path)
    write_whole(path, render_html(found, title=title).encode(errors="backslashreplace"))


def _first(found: Sequence[Resolution], name: str) -> Column:
    return next(column for each in found for column in each.columns if column.name == name)


def _short(value: Any) -> str:
    """A value as JSON writes it, numbers in few letters; long ones are cut."""
    return number_word(value, 8) if isinstance(value, float) else value_word(value, LONGEST)


def _code(sentence: str) -> Markup:
    """A sentence whose words between backticks are set as code."""
    parts = [escape(part) for part in sentence.split("`")]
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if index % 2 else part for index, part in enumerate(parts)
    )


def _curve(found: Resolution, column: Column) -> list[tuple[str, str, float, float]]:
    """For each kind of layer that turns otherwise: its name, points of a line, and the smallest and largest ratio."""
    reference = found.columns[0] if found.columns[0].verdict == "reference" else None
    drawn = []
    for layer in column.layers:
        values = ratios(layer, counterpart(reference, layer.kind), found.lengths[-1])
        if len(values) > 1 and any(abs(value - 1) > 1e-5 for value in values):
            low, high = min(*values, 1.0), max(*values, 1.0)
            step = WIDE / (len(values) - 1)
            points = " ".join(
                f"{index * step:.1f},{HIGH - (value - low) / (high - low) * HIGH:.1f}"
                for index, value in enumerate(values)
            )
            drawn.append((kind_word(layer.kind), points, low, high))
    return drawn
