"""Rows of words as aligned columns. The last column is never wrapped, so that output can be searched line by line."""

from collections.abc import Sequence


def columns(rows: Sequence[Sequence[str]]) -> str:
    """Pad every column but the last to its widest word.

    >>> print(columns([("a", "one"), ("long", "two")]))
    a     one
    long  two
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(word.ljust(width) for word, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )
