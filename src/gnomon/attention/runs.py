"""Runs: stretches of slots with what real tokens of one document are, consecutive tokens at consecutive positions.

A slot of a run sees its own run and nothing else, as far as the sight goes, when no other run holds real tokens of its
document. There the distance between positions is the distance between slots, and no mask is needed.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Literal, final

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from gnomon.attention.call import Call

#: Runs of fewer slots on average, if there are more than FEW, are not worth a call of the kernel each.
SHORT: Final = 16
FEW: Final = 8

#: "run": sees the real tokens of its run. "alone": padding that sees itself only. "mixed": anything else.
Kind = Literal["run", "alone", "mixed"]


@final
@dataclass(frozen=True)
class Run:
    """Slots start .. end - 1 hold queries, which see slots first_key .. last_key - 1 and none else."""

    kind: Kind
    start: int
    end: int
    first_key: int
    last_key: int


Layout = tuple[Run, ...]


def layouts(call: Call, *, by_position: bool) -> dict[Layout, list[int]]:
    """The rows of the batch by how their queries fall into runs. Reads values, so it waits for their device.

    `by_position`: a run ends where positions do not count up by one. Rows that share all they have are read once.
    """
    mask, keys = call.context.mask, call.keys
    rows = 1 if mask.is_open and not (by_position and call.context.positions.stride(0)) else len(call.q)
    real = None if mask.real is None else mask.real[:rows]
    documents = None if mask.documents is None else mask.documents[:rows]
    breaks = _breaks(real, documents, call.context.positions[:rows] if by_position else None, rows, keys)
    firsts = [[0, *row] for row in breaks]
    real_at, document_at = _at_starts(real, firsts, True), _at_starts(documents, firsts, 0)
    found: dict[Layout, list[int]] = {}
    for row, starts in enumerate(firsts):
        ends = pairwise([*starts, keys])
        stretches = [_Stretch(*of) for of in zip(ends, real_at[row], document_at[row], strict=True)]
        found.setdefault(_layout(call, stretches), []).extend([row] if rows > 1 else range(len(call.q)))
    return found


def _layout(call: Call, stretches: Sequence["_Stretch"]) -> Layout:
    first, last = call.first, call.first + call.queries
    if len(stretches) > max(FEW, call.keys // SHORT):
        return (Run("mixed", first, last, 0, call.keys),)
    return tuple(_joined(_runs(stretches, first, last, causal=call.sight.causal)))


@final
@dataclass(frozen=True)
class _Stretch:
    slots: tuple[int, int]
    real: bool | int
    document: int


def _breaks(
    real: Bool[Tensor, "B K"] | None,
    documents: Int[Tensor, "B K"] | None,
    positions: Int[Tensor, "B K"] | None,
    rows: int,
    keys: int,
) -> list[list[int]]:
    """For each row the slots, other than 0, with which a stretch begins."""
    changes = [part[:, 1:] != part[:, :-1] for part in (real, documents) if part is not None]
    if positions is not None:
        jumps = positions[:, 1:] - positions[:, :-1] != 1
        changes.append(jumps if real is None else jumps & real[:, 1:])
    found: list[list[int]] = [[] for _ in range(rows)]
    if changes and keys > 1:
        for row, slot in torch.stack(changes).any(0).nonzero().tolist():
            found[row].append(slot + 1)
    return found


def _at_starts(values: Tensor | None, starts: Sequence[Sequence[int]], default: int) -> list[list[int]]:
    """The value in the first slot of each stretch of each row."""
    if values is None:
        return [[default] * len(row) for row in starts]
    return [values[row, torch.tensor(slots, device=values.device)].tolist() for row, slots in enumerate(starts)]


def _runs(stretches: Sequence[_Stretch], first: int, last: int, *, causal: bool) -> Iterator[Run]:
    """What the queries in the slots first .. last - 1 see, stretch by stretch."""
    reals: dict[int, list[_Stretch]] = {}
    for stretch in stretches:
        if stretch.real:
            reals.setdefault(stretch.document, []).append(stretch)
    before: dict[int, int] = {}
    for stretch in stretches:
        own = reals.get(stretch.document, [])
        before[stretch.document] = before.get(stretch.document, 0) + stretch.real
        seen = own[: before[stretch.document]] if causal else own
        start, end = max(stretch.slots[0], first), min(stretch.slots[1], last)
        if start >= end:
            continue
        if stretch.real and len(seen) == 1:
            yield Run("run", start, end, *stretch.slots)
        elif not seen:
            yield Run("alone", start, end, start, end)
        else:
            yield Run("mixed", start, end, min(seen[0].slots[0], start), max(seen[-1].slots[1], end))


def _joined(runs: Iterator[Run]) -> Iterator[Run]:
    """Neighbours that are mixed, as one."""
    last: Run | None = None
    for run in runs:
        if last is not None and last.kind == run.kind == "mixed":
            first_key, last_key = min(last.first_key, run.first_key), max(last.last_key, run.last_key)
            last = Run("mixed", last.start, run.end, first_key, last_key)
            continue
        if last is not None:
            yield last
        last = run
    if last is not None:
        yield last
