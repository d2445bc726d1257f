"""What one measured step yields: numbers by name, from the parameters, their gradients and a small forward."""

from collections.abc import Iterator

import torch
from torch import Tensor, nn

from gnomon.doctor.evidence.paths import running_path
from gnomon.doctor.evidence.record import Trace
from gnomon.doctor.evidence.visits import RowCounter, RowTable
from gnomon.doctor.monitor.heads import Heads, RotationWatcher, heads
from gnomon.doctor.monitor.losses import LossByPosition, losses
from gnomon.doctor.monitor.probing import Call, forward, untouched
from gnomon.doctor.monitor.sizes import ratio, reached, rms, some_rows
from gnomon.doctor.monitor.targets import Targets

Numbers = Iterator[tuple[str, float]]
FORGET = 0.9  # of the loss sums at each measurement: the last ten count most


def norm_ratios(watched: Targets) -> Numbers:
    """RMS of each table that is added, learned or fixed, over the RMS of the words."""
    if watched.words is None:
        return
    words = float(rms(some_rows(watched.words)))
    for name, table in (*watched.positions.items(), *watched.buffers.items()):
        value = ratio(float(rms(some_rows(table))), words)
        if value and table.shape[-1] == watched.words.shape[-1]:  # a table of zeros has not been trained yet
            yield f"norm ratio/{name}", value


def gradient_ratios(watched: Targets) -> Numbers:
    """RMS gradient of the rows reached, over that of the words."""
    words = watched.words
    whole = float(reached(words.grad)) if words is not None and words.grad is not None else 0.0
    for name, table in watched.positions.items():
        own = float(reached(table.grad)) if table.grad is not None else 0.0
        value = ratio(own, whole)
        if value is not None:
            yield f"gradient ratio/{name}", value


def positions_of(call: Call) -> Numbers:
    """The least and greatest position in the batch: its ids where it has them, else those of its tokens."""
    ids, content = call.positions, call.content
    if ids is not None:
        if call.mask is not None and call.mask.shape == ids.shape:
            ids = ids[call.mask.bool()]
        yield "positions/min", float(ids.min())
        yield "positions/max", float(ids.max())
    elif content is not None:
        longest = content.shape[1] if call.mask is None else int(call.mask.sum(1).max())
        yield "positions/min", 0.0
        yield "positions/max", float(longest - 1)


class Probe:
    """Runs the small forward and keeps what adds up over measurements: rows seen, and losses by position."""

    def __init__(self, model: nn.Module, tokens: int) -> None:
        self.model, self.tokens = model, tokens
        self.rows: dict[str, Tensor] = {}
        self.losses = LossByPosition()
        self.heads: tuple[Heads, ...] = ()

    def __call__(self, call: Call, watched: Targets) -> Numbers:
        """Rows seen, losses and heads for the first rows of a batch."""
        small = call.cut(self.tokens)
        content = small.content
        added = {n: t for n, t in (*watched.positions.items(), *watched.buffers.items()) if t.ndim >= 2}
        rows = RowCounter({t.data_ptr(): RowTable(n, _rows(t)) for n, t in added.items()})
        trace = Trace(*(content.shape if content is not None else (1, 1)))
        with untouched(self.model):
            with running_path(self.model) as path, rows, RotationWatcher(trace, path) as turned:
                output = forward(self.model, small)
            yield from self._seen(rows)
            yield from self._lost(output, small)
            self.heads = heads(turned.rotated)
        for found in self.heads:
            yield f"positional sensitivity/{found.where}", _mean(found.positional_sensitivity)
            yield f"semantic stability/{found.where}", _mean(found.semantic_stability)

    def _seen(self, counter: RowCounter) -> Numbers:
        for key, counts in counter.counts.items():
            name = counter.tables[key].name
            seen = self.rows.get(name, torch.zeros(len(counts), dtype=torch.bool)) | (counts > 0)
            if bool(seen.any()):
                self.rows[name] = seen
                yield f"rows seen/{name}", float(seen.double().mean())

    def _lost(self, output: object, call: Call) -> Numbers:
        found = losses(output, call)
        if found is None:
            return
        self.losses.decay(FORGET)
        self.losses.add(*found)
        for (first, last), (mean, _) in self.losses.buckets().items():
            yield f"loss/positions {first} to {last}", mean


def _rows(table: Tensor) -> int:
    """The first axis that has more than one entry, as (1, rows, width) tables keep it."""
    return next((n for n in table.shape if n > 1), 1)


def _mean(values: tuple[float, ...]) -> float:
    return sum(values) / len(values)
