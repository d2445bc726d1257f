"""Text for a terminal: lines no wider than asked, and no character that a terminal would act on."""

import re
from collections.abc import Iterator

from rich.cells import cell_len

# A path or a dotted name is broken after its separators first.
_PIECES = re.compile(r"[^/\\._,:=-]*[/\\._,:=-]+|[^/\\._,:=-]+")


def printable(text: str) -> str:
    """The text on one line, with control characters, escapes and direction marks spelled out.

    >>> printable("a\\x1b[31mb\\nc")
    'a\\\\x1b[31mb c'
    """
    flat = re.sub(r"\s+", " ", text)
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in flat)


def wrap(text: str, width: int, *, first: str = "", rest: str = "") -> list[str]:
    """Lines of at most `width` columns; `first` stands before the first line, `rest` before the others.

    >>> wrap("layers.0.attention.query", 14)
    ['layers.0.', 'attention.', 'query']
    """
    lines, line = [], first
    for piece, glued in _fitting(printable(text), width - max(cell_len(first), cell_len(rest))):
        space = "" if glued or line in (first, rest) else " "
        if line not in (first, rest) and cell_len(line + space + piece) > width:
            lines.append(line)
            line, space = rest, ""
        line += space + piece
    return [*lines, line]


def _fitting(text: str, room: int) -> Iterator[tuple[str, bool]]:
    """Words that fit into `room` columns; a piece of a longer word comes with True unless it is the first."""
    for word in text.split(" "):
        if not word:
            continue
        pieces = [word] if cell_len(word) <= room else _PIECES.findall(word)
        for index, piece in enumerate(p for long in pieces for p in _chopped(long, room)):
            yield piece, index > 0


def _chopped(piece: str, room: int) -> Iterator[str]:
    taken = ""
    for char in piece:
        if taken and cell_len(taken + char) > room:
            yield taken
            taken = ""
        taken += char
    yield taken
