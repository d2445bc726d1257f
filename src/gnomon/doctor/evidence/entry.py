"""Where additive positions enter a model, how many times, along which axis, and how large they are beside the words.

Every place holds the same token. Without positions every hidden vector is then the same along the sequence, in every
layer, whatever attention does (it averages equal values). So the first input that varies is where positions entered,
and before the first attention it is  a * word + k * position : k is fitted against the table.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from jaxtyping import Float64
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.evidence.base import attempt, evidence
from gnomon.doctor.evidence.calling import Model, untouched_model
from gnomon.doctor.evidence.sinusoid import Sinusoid, sinusoid_table
from gnomon.doctor.evidence.tables import position_tables
from gnomon.doctor.evidence.watcher import attends

BATCH, LENGTH = 3, 23
VARIES = 1e-4  # of the size of the vectors
FITS = 0.02  # residual, of the size of what varies
SHIFTS = (0, 1, -1, 2, -2)

Matrix = Float64[np.ndarray, "positions width"]


@dataclass(frozen=True)
class Entry:
    """Positions as they arrive: x = a * word + coefficient * table[position + shift].

    `coefficient` is None when no known table explains what varies. `ratio` is RMS(position part) / RMS(word part).
    """

    where: str
    axis: Literal["sequence", "batch", "none"]
    attentions_before: int
    table: str | None
    coefficient: float | None
    shift: int
    residual: float
    ratio: float
    width: int  #: of the vectors that positions are added to


@evidence
def entry(subject: Subject) -> Entry:
    """Where positions enter, measured on one repeated token; axis "none" when nothing varies anywhere.

    Weights are as given: redrawing scales the tables, and the coefficient would be that scale.
    """
    probe = untouched_model(subject)
    seen = _inputs(probe, _constant(probe))
    sized = [s for s in seen if s.values.shape[:2] == (BATCH, probe.length(LENGTH))]
    if not sized:
        raise MissingEvidence("no module takes hidden vectors of shape (batch, sequence, width)")
    first = next((s for s in sized if s.axis() != "none"), None)
    if first is None:
        coefficient = 0.0 if attempt(position_tables, subject) else None
        return Entry(sized[0].where, "none", 0, None, coefficient, 0, 0.0, 0.0, sized[0].width)
    if first.attentions and sized[0].attentions:
        raise MissingEvidence("hidden vectors before the first attention have another shape than (batch, sequence)")
    if first.axis() == "batch":
        return Entry(first.where, "batch", first.attentions, None, None, 0, 0.0, first.spread(), first.width)
    candidates = [s for s in sized if s.attentions == first.attentions and s.axis() == "sequence"]
    fits = [fit for s in candidates for fit in _fits(s, _references(subject, s.values.shape))]
    good = [fit for fit in fits if fit.residual <= FITS]
    if good:
        return max(good, key=lambda fit: abs(fit.coefficient or 0.0))
    return Entry(first.where, "sequence", first.attentions, None, None, 0, 1.0, first.spread(), first.width)


@dataclass(frozen=True)
class _Seen:
    where: str
    values: Tensor
    attentions: int

    @property
    def width(self) -> int:
        return self.values.shape[2]

    def axis(self) -> Literal["sequence", "batch", "none"]:
        size = float(self.values.abs().max()) + 1e-30
        if float((self.values - self.values[:, :1]).abs().max()) > VARIES * size:
            return "sequence"
        return "batch" if float((self.values - self.values[:1]).abs().max()) > VARIES * size else "none"

    def spread(self) -> float:
        moving = self.values - self.values.mean(dim=(0, 1), keepdim=True)
        return float(moving.square().mean().sqrt() / self.values.square().mean().sqrt())


def _constant(probe: Model) -> Tensor:
    """The same token, or the same vector, at every place of every row."""
    content = probe.draw(BATCH, probe.length(LENGTH), seed=3)
    return content[:1, :1].expand_as(content).contiguous()


class _CountAttentions(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.count += attends(func.overloadpacket.__name__)
        return func(*args, **(kwargs or {}))


def _inputs(probe: Model, content: Tensor) -> list[_Seen]:
    """The first hidden-vector argument of each module call, in order, with the attentions that ran before it."""
    seen: list[_Seen] = []
    counter = _CountAttentions()

    def look(path: str, args: Any, kwargs: Any) -> None:
        for value in (*args, *kwargs.values()):
            if value is not content and isinstance(value, Tensor) and value.is_floating_point() and value.ndim == 3:
                seen.append(_Seen(path, value.detach().double().cpu(), counter.count))
                return

    handles = [
        part.register_forward_pre_hook(lambda _, a, k, path=path: look(path, a, k), with_kwargs=True)
        for path, part in probe.module.named_modules()
        if path
    ]
    try:
        with counter:
            probe(content)
    finally:
        for handle in handles:
            handle.remove()
    return seen


def _references(subject: Subject, shape: torch.Size) -> list[tuple[str, Matrix, int]]:
    """Tables that could explain what varies: those stored, else the published sinusoids, with their reserved rows."""
    width = shape[2]
    stored = attempt(position_tables, subject) or ()
    fitting = [(t.name, t.values, t.reserved) for t in stored if t.values.shape[1] == width]
    if fitting or width < 4:
        return fitting
    rows = shape[1] + 4
    published = [
        Sinusoid(layout, exponent, 10_000.0, 1.0, 0.0, 1, "sine first", 0.0, np.empty(0))
        for layout in ("interleaved", "half")
        for exponent in ("paper", "endpoint")
    ]  # fmt: skip
    return [(f"sinusoid ({p.layout})", sinusoid_table(p, rows, width), 0) for p in published]


def _fits(seen: _Seen, references: list[tuple[str, Matrix, int]]) -> list[Entry]:
    """k for each table and shift, from the vectors and the rows less their means over the sequence."""
    x: Matrix = seen.values[0].numpy()
    moving = x - x.mean(axis=0)
    result = []
    for name, table, reserved in references:
        for shift in SHIFTS:
            start = reserved + shift
            if start < 0 or start + len(x) > len(table):
                continue
            rows = table[start : start + len(x)]
            centred = rows - rows.mean(axis=0)
            k = float((moving * centred).sum() / max((centred**2).sum(), 1e-30))
            residual = float(np.sqrt(((moving - k * centred) ** 2).sum() / max((moving**2).sum(), 1e-30)))
            word = x - k * rows
            ratio = float(np.sqrt(((k * rows) ** 2).mean() / max((word**2).mean(), 1e-30)))
            result.append(Entry(seen.where, "sequence", seen.attentions, name, k, shift, residual, ratio, seen.width))
    return result
