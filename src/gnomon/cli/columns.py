"""Rows of words as aligned columns. The last column is never wrapped, so that output can be searched line by line."""

import shutil
import sys
from collections.abc import Sequence

NARROWEST = 20  #: a last column is not cut below this


def columns(rows: Sequence[Sequence[str]], *, width: int | None = None) -> str:
    """Pad every column but the last to its widest word; lines end at `width`, if there is one.

    >>> print(columns([("a", "one"), ("long", "two")]))
    a     one
    long  two
    >>> print(columns([("a", "the position encoding of images")], width=26))
    a  the position encoding …
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(word.ljust(size) for word, size in zip(row, widths, strict=True)).rstrip() for row in rows)
    least = sum(widths[:-1]) + 2 * (len(widths) - 1) + NARROWEST
    return "\n".join(line if width is None else _cut(line, max(width, least)) for line in lines)


def terminal_width() -> int | None:
    """How wide the terminal is; None where the output is read by a program, which gets whole lines."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def _cut(line: str, width: int) -> str:
    if len(line) <= width:
        return line
    return line[: width - 1].rpartition(" ")[0] + " …"
