"""A table as lines of text: blocks of columns that fit the width, numbers to the right, nothing cut."""

from collections.abc import Iterator, Sequence
from typing import final

from rich.cells import cell_len

from gnomon.report.lab.tables import Table
from gnomon.report.wrapping import printable, wrap

WIDEST_NAME, NARROWEST_LABEL, GAP = 24, 10, "  "


@final
class Grid:
    """Rows of cells under wrapped labels. A name that is too long for its column has lines of its own."""

    def __init__(self, labels: Sequence[str], rows: Sequence[tuple[str, Sequence[str]]], width: int) -> None:
        self._labels, self._width = labels, width
        self._rows = [(printable(name), cells) for name, cells in rows]
        self._name = min(max((cell_len(name) for name, _ in self._rows), default=0), min(WIDEST_NAME, width // 3))
        self._widths = [
            max([min(cell_len(label), NARROWEST_LABEL), *(cell_len(cells[at]) for _, cells in rows)])
            for at, label in enumerate(labels)
        ]

    def lines(self) -> Iterator[str]:
        """All columns, one block below the other where they do not fit side by side."""
        for index, block in enumerate(self._blocks()):
            if index:
                yield ""
            yield from self._block(block)

    def _blocks(self) -> Iterator[list[int]]:
        block: list[int] = []
        for at in range(len(self._labels)):
            if block and self._name + sum(len(GAP) + self._widths[one] for one in (*block, at)) > self._width:
                yield block
                block = []
            block.append(at)
        yield block

    def _block(self, block: list[int]) -> Iterator[str]:
        heads = [wrap(self._labels[at], self._widths[at]) for at in block]
        tall = max(map(len, heads), default=0)
        padded = [[""] * (tall - len(head)) + head for head in heads]
        for line in zip(*padded, strict=True):
            yield self._line("", block, line)
        for name, cells in self._rows:
            here = [cells[at] for at in block]
            if cell_len(name) > self._name:
                yield from wrap(name, self._width)
                name = ""
            yield self._line(name, block, here)

    def _line(self, name: str, block: list[int], cells: Sequence[str]) -> str:
        padded = (" " * (self._widths[at] - cell_len(cell)) + cell for at, cell in zip(block, cells, strict=True))
        return GAP.join([name + " " * (self._name - cell_len(name)), *padded]).rstrip()


def table_lines(table: Table, width: int) -> Iterator[str]:
    """The table and its notes; a star marks the best where a ranking may be printed."""
    rows = [
        (name, [cell.text(len(table.seeds)) + ("*" if cell.best else " ") for cell in cells])
        for name, cells in table.rows
    ]
    yield from Grid([column.label + " " for column in table.columns], rows, width).lines()
    for note in table.notes:
        yield from wrap(note, width)
