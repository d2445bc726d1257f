"""A check as text: the verdict, then the numbers in columns."""

import math
from collections.abc import Iterator, Sequence

from gnomon.extending.checking.results import Checked
from gnomon.report.wrapping import printable, wrap

WIDTH = 100


def as_text(checked: Checked) -> str:
    """The whole check for a terminal."""
    models = checked.models
    head = f"{models.before} ({_length(models.old)}) -> {models.after} ({_length(models.new)})"
    blocks = [
        list(wrap(printable(head), WIDTH)),
        [line for sentence in checked.verdict for line in wrap(f"- {printable(sentence)}", WIDTH)],
        _losses(checked),
        _positions(checked),
        _keys(checked),
        _documents(checked),
        list(wrap(f"{checked.tokens} tokens read in {checked.seconds:.0f} s.", WIDTH)),
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block)


def _losses(checked: Checked) -> list[str]:
    if not checked.lengths:
        return []
    change = ("after", "nats a token", "+-")
    head = ("tokens", "rows", "perplexity", *change, f"last {checked.last}", *change)
    rows = [(str(at.length), str(at.rows), *_change(at.windows), *_change(at.last)) for at in checked.lengths]
    note = f"Perplexity of whole rows, and of the last {checked.last} tokens; the loss's change +- its standard error."
    return [*columns(head, rows), *wrap(note, WIDTH)]


def _change(change: object) -> tuple[str, str, str, str]:
    """Perplexities before and after; their change and its standard error in nats."""
    numbers = [getattr(change, name) for name in ("before", "after", "difference", "error")]
    before, after = (_number(None if n is None else math.exp(min(n, 700.0)), 2) for n in numbers[:2])
    return before, after, "-" if numbers[2] is None else f"{numbers[2]:+.4f}", _number(numbers[3], 4)


def _positions(checked: Checked) -> list[str]:
    """The loss by place at the longest length."""
    places = checked.lengths[-1].positions if checked.lengths else ()
    rows = [(f"{p.start}-{p.stop - 1}", _number(p.before, 3), _number(p.after, 3)) for p in places]
    return list(columns(("place in a row", "loss before", "after"), rows)) if rows else []


def _keys(checked: Checked) -> list[str]:
    rows = []
    for keys in checked.keys:
        for place, depth in enumerate(sorted({each.depth for each in (keys.before or keys.after or ())})):
            both = [None if found is None else found[place] for found in (keys.before, keys.after)]
            told = [cell for one in both for cell in (_found(one), "-" if one is None else f"{one.rank:.1f}")]
            rows.append((str(keys.length), f"{depth:.0%}", *told))
    return list(columns(("tokens", "depth", "key before", "rank", "after", "rank"), rows)) if rows else []


def _documents(checked: Checked) -> list[str]:
    cells = [
        (
            str(at.length),
            str(at.documents),
            *(
                _number(getattr(change, side, None), 3)
                for change in (at.found, at.beyond, at.agreement)
                for side in ("before", "after")
            ),
        )
        for at in checked.documents
    ]
    shares = ("parts that find them", "after", "from beyond", "after")
    head = ("tokens", "documents", *shares, "cosine with parts", "after")
    return list(columns(head, cells)) if cells else []


def columns(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Right-aligned columns.

    >>> print(*columns(("a", "long"), [("12", "3")]), sep="/")
     a  long/12     3
    """
    widths = [max(len(row[i]) for row in (head, *rows)) for i in range(len(head))]
    for row in (head, *rows):
        yield "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))


def _number(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def _found(recall: object) -> str:
    return "-" if recall is None else "found" if getattr(recall, "found", False) else "lost"


def _length(tokens: int | None) -> str:
    return "no stated length" if tokens is None else f"{tokens} tokens"
