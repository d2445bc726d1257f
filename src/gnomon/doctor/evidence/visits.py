"""Which rows of each table of positions the caller's batches read, and which rows they ask for that are not there."""

import copy
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from jaxtyping import Int64
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.adapters.wording import said
from gnomon.doctor.evidence.base import attempt, evidence
from gnomon.doctor.evidence.batches import batch_arguments
from gnomon.doctor.evidence.tables import position_tables

EVERYTHING = 2**40  # the end of a slice that has none
BOXES = re.compile(r"(^|[._])([xyhw]|box)_pos\w*|bbox\w*|spatial_pos\w*", re.IGNORECASE)


@dataclass(frozen=True)
class RowTable:
    """A table that a forward takes rows of; the `reserved` ones stand before position 0."""

    name: str
    rows: int
    reserved: int = 0
    kind: Literal["learned", "sinusoidal", "boxes"] = "learned"


@dataclass(frozen=True)
class Visited:
    """How often each row of one table was read."""

    table: RowTable
    counts: Int64[np.ndarray, " rows"]

    @property
    def last(self) -> int:
        return int(np.flatnonzero(self.counts)[-1])


@dataclass(frozen=True)
class Refused:
    """A batch that asks for a row a table does not have (`row`), or whose forward fails for another reason (None)."""

    batch: int
    table: RowTable | None
    row: int | None
    shapes: Mapping[str, tuple[int, ...]]
    said: str


@dataclass(frozen=True)
class Visits:
    batches: int
    visited: tuple[Visited, ...]
    refused: tuple[Refused, ...]


@evidence
def visits(subject: Subject) -> Visits:
    """Runs every batch through a copy in eval mode, and reads the lookups off its tensor operations."""
    batches = batch_arguments(subject)
    tables = row_tables(subject)
    module = copy.deepcopy(subject.module).eval()
    stored = dict([*module.named_parameters(), *module.named_buffers()])
    counter = RowCounter({stored[t.name].data_ptr(): t for t in tables if t.name in stored})
    refused = []
    for number, batch in enumerate(batches):
        shapes = {name: tuple(v.shape) for name, v in batch.items() if isinstance(v, Tensor)}
        try:
            with torch.no_grad(), counter:
                module(**batch)
        except OutsideError as outside:
            refused.append(Refused(number, outside.table, outside.row, shapes, ""))
        except (Exception, SystemExit) as error:  # noqa: BLE001  whatever the forward says
            refused.append(Refused(number, None, None, shapes, said(error)))
    counts = tuple(Visited(counter.tables[key], n.numpy()) for key, n in counter.counts.items() if bool(n.any()))
    if not counts and not refused:
        raise MissingEvidence("the forward looks up no table of positions")
    return Visits(len(batches), counts, tuple(refused))


def row_tables(subject: Subject) -> tuple[RowTable, ...]:
    """The tables of positions, and those of box coordinates; empty when there is none."""
    found = [
        RowTable(t.name, len(t.values), t.reserved, "learned" if t.kind == "learned" else "sinusoidal")
        for t in attempt(position_tables, subject) or ()
    ]
    boxes = ((name, p) for name, p in subject.module.named_parameters() if p.ndim == 2 and BOXES.search(name))
    return (*found, *(RowTable(name, len(p), kind="boxes") for name, p in boxes))


class OutsideError(Exception):
    """A row that the table does not have: the greatest asked for, else the smallest."""

    def __init__(self, table: RowTable, row: int) -> None:
        super().__init__(row)
        self.table, self.row = table, row


class RowCounter(TorchDispatchMode):
    """Counts the rows that lookups and slices take of the tables with these addresses."""

    def __init__(self, tables: Mapping[int, RowTable]) -> None:
        super().__init__()
        self.tables = tables
        self.counts = {key: torch.zeros(t.rows, dtype=torch.int64) for key, t in tables.items()}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func.overloadpacket.__name__
        if name in ("embedding", "index", "index_select", "slice") and args[0].data_ptr() in self.tables:
            rows = self._rows(name, args, self.tables[args[0].data_ptr()])
            if rows is not None and rows.numel():
                self._count(args[0].data_ptr(), rows.flatten(), wraps=name == "index")
        return func(*args, **(kwargs or {}))

    def _rows(self, name: str, args: Any, table: RowTable) -> Tensor | None:
        if name == "embedding":
            rows: Tensor = args[1]
            return rows
        axis = next((i for i, n in enumerate(args[0].shape) if n == table.rows), None)
        if name == "index":
            given = [i for i, index in enumerate(args[1]) if isinstance(index, Tensor)]
            return args[1][given[0]] if given == [axis] and args[1][given[0]].dtype is torch.int64 else None
        if axis is None or args[1] != axis:
            return None
        if name == "index_select":
            picked: Tensor = args[2]
            return picked
        start, stop = (*args[2:], None, None)[:2]
        stop = table.rows if stop is None or stop > EVERYTHING else stop
        return torch.arange(start or 0, stop) if 0 <= (start or 0) < stop else None

    def _count(self, key: int, rows: Tensor, *, wraps: bool) -> None:
        table, low, high = self.tables[key], int(rows.min()), int(rows.max())
        if high >= table.rows or (low < 0 and not wraps):
            raise OutsideError(table, high if high >= table.rows else low)
        self.counts[key] += torch.bincount(rows.cpu().remainder(table.rows), minlength=table.rows)
