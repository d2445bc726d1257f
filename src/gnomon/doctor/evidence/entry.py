"""Where additive positions enter a model, how many times, along which axis, and how large they are beside the words.

Every place holds the same token. Without positions every hidden vector is then the same along the sequence, in every
layer, whatever attention does (it averages equal values). So the first input that varies is where positions entered,
and before the first attention it is  a * word + k * position : k is fitted against the table.
"""

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import torch
from jaxtyping import Float64
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.evidence.base import attempt, evidence
from gnomon.doctor.evidence.calling import Model, untouched_model
from gnomon.doctor.evidence.idle import running_position_tables, starts_at_zero
from gnomon.doctor.evidence.signature import DECODER
from gnomon.doctor.evidence.sinusoid import Sinusoid, sinusoid_table
from gnomon.doctor.evidence.tables import position_tables
from gnomon.doctor.evidence.watcher import attends

BATCH, LENGTH = 3, 23
VARIES = 1e-4  # of the size of the vectors
FITS = 0.02  # residual, of the size of what varies
MIXED = 1e-3  # of what varies: sums of float32 numbers differ by less
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
    if probe.length(LENGTH) < 2:
        raise MissingEvidence("the model runs on one token only")
    seen = _inputs(probe, _constant(probe))
    sized = [s for s in seen if s.values.shape[:2] == (BATCH, probe.length(LENGTH))]
    if not sized:
        raise MissingEvidence("no module takes hidden vectors of shape (batch, sequence, width)")
    first = next((s for s in sized if s.axis() != "none"), None)
    if first is None:
        if starts_at_zero(subject):
            raise MissingEvidence("the table of positions starts at zero and is not trained yet")
        coefficient = 0.0 if running_position_tables(subject) else None
        return Entry(sized[0].where, "none", 0, None, coefficient, 0, 0.0, 0.0, sized[0].width)
    # What an encoder attends to before the decoder's tokens come in is not before those.
    before = sized[0].attentions if probe.signature.content in DECODER else 0
    sized = [replace(s, attentions=s.attentions - before) for s in sized]
    first = replace(first, attentions=first.attentions - before)
    if first.attentions and sized[0].attentions:
        raise MissingEvidence("hidden vectors before the first attention have another shape than (batch, sequence)")
    if first.axis() == "batch":
        return Entry(first.where, "batch", first.attentions, None, None, 0, 0.0, first.spread(), first.width)
    candidates = [s for s in sized if s.attentions == first.attentions and s.axis() == "sequence"]
    fits = [fit for s in candidates for fit in _fits(s, _references(subject, s.values.shape))]
    good = [fit for fit in fits if fit.residual <= FITS]
    if good:
        return max(good, key=lambda fit: abs(fit.coefficient or 0.0))
    if _is_mixing(probe, seen, first):
        raise MissingEvidence(
            f"what arrives at {first.where} mixes the tokens before it (a convolution, a recurrence, a linear "
            "attention): positions that are added cannot be told from that"
        )
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


def _constant(probe: Model, seed: int = 3) -> Tensor:
    """The same token, or the same vector, at every place of every row."""
    content = probe.draw(BATCH, probe.length(LENGTH), seed=seed)
    return content[:1, :1].expand_as(content).contiguous()


def _is_mixing(probe: Model, seen: list[_Seen], first: _Seen) -> bool:
    """Whether what varies at `first` comes of mixing tokens: it is another for another token.

    Before the first attention a norm may make it another too; then other places must change with the first token.
    """
    number = next(i for i, one in enumerate(seen) if (one.where, one.values is first.values) == (first.where, True))
    other = _same_input(probe, _constant(probe, seed=4), seen, number)
    if other is None:
        return False
    parts = [values - values.mean(dim=1, keepdim=True) for values in (first.values, other)]
    if float((parts[0] - parts[1]).abs().max()) <= MIXED * float(parts[0].abs().max()):
        return False
    if first.attentions:
        return True
    changed = _constant(probe)
    changed[:, 0] = _constant(probe, seed=4)[:, 0]
    after = _same_input(probe, changed, seen, number)
    if after is None:
        return False
    moved = (after - first.values)[:, 1:].abs().max()
    return float(moved) > VARIES * float(first.values.abs().max())


def _same_input(probe: Model, content: Tensor, seen: list[_Seen], number: int) -> Tensor | None:
    """What arrives at the same call of the same module for other content; None when other modules were called."""
    found = _inputs(probe, content)
    if [one.where for one in found] != [one.where for one in seen] or (
        found[number].values.shape != seen[number].values.shape
    ):
        return None
    return found[number].values


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
                turned = value.shape[:2] == content.shape[1::-1]
                hidden = value.detach().transpose(0, 1) if turned else value.detach()
                seen.append(_Seen(path, hidden.double().cpu(), counter.count))
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
