"""Differences by effect: how far two readings turn apart, and how their logits differ; keys are not compared."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np
from jaxtyping import Float64

from gnomon.report.resolved.layers import severity
from gnomon.resolving.reading import STILL as NOT_TURNING
from gnomon.resolving.reading import TURNING, LayerReading

NOISE = 2e-6  #: relative difference of a frequency or a logit scale that float32 tables have anyway
STILL = 1e-12  #: radians per position: no sequence is long enough to tell such a pair from one that stands
MOST_SHOWN = 6  #: numbers of layers in a sentence
VISIBLE = 0.1  #: radians: a pair's score changes by about this share


@final
@dataclass(frozen=True)
class Difference:
    """One kind of layer of one stack against the reference, for the newest of `length` tokens.

    Where one of the two looks at each position on its own, for that older token whose angles are furthest off, if it is
    further off. `phase`: the largest angle, in radians, between the same pair in both, counted from the first token;
    `pair`: which; `relative`: the largest relative difference of a frequency, of the pairs from `relative_pair` to
    `relative_last`, of `pairs` in all. `logits`: the ratio of the scores' scales in the columns that turn (all of them
    where none does); `rest`: that in the columns that do not, 1 where all turn. `visible_from`: the distance in tokens
    from which `pair` is more than `VISIBLE` apart, None if never. `incomparable` says why there are no numbers
    (another width, other layers, one side does not turn, NaN).
    """

    kind: str
    length: int
    phase: float = 0.0
    pair: int = 0
    relative: float = 0.0
    relative_pair: int = 0
    relative_last: int = 0
    pairs: int = 0
    logits: float = 1.0
    rest: float = 1.0
    partial: bool = False  #: some columns turn and some do not
    visible_from: int | None = None
    layouts: bool = False  #: rows and arithmetic do not fit together
    incomparable: str = ""

    @property
    def equal(self) -> bool:
        """Whether nothing but rounding is left."""
        same = self.relative <= NOISE and abs(self.logits - 1) <= NOISE and abs(self.rest - 1) <= NOISE
        return bool(same and not self.incomparable and not self.layouts)


def compared(ours: LayerReading, reference: LayerReading, length: int, served: int) -> Difference:
    """The difference at one length, where both servers were started for `served` tokens."""
    if ours.rotary_dim != reference.rotary_dim:
        why = f"{ours.rotary_dim} of {ours.head_dim} columns turn, {reference.rotary_dim} in the reference"
        return Difference(reference.kind, length, incomparable=why)
    partial = _partial(ours, reference)
    scales = Difference(
        reference.kind,
        length,
        logits=_ratio(ours.logit_factor(length, served), reference.logit_factor(length, served)),
        rest=_ratio(ours.still_factor(length), reference.still_factor(length)) if partial else 1.0,
        partial=partial,
        incomparable=other_layers(ours, reference),
    )
    if scales.incomparable or not ours.rotary_dim:
        return scales
    if why := _not_numbers(ours, reference, length, served):
        return replace(scales, incomparable=why)
    layouts = effective_layout(ours) != effective_layout(reference)
    edges = {length - 1, *ours.schedule.edges(length), *reference.schedule.edges(length)}
    found = [_at_token(ours, reference, position, length, served) for position in edges]
    worst = max(found, key=severity)
    return replace(worst, logits=scales.logits, rest=scales.rest, partial=partial, layouts=layouts)


def other_layers(ours: LayerReading, reference: LayerReading) -> str:
    """Which layers are of this kind in one of the two alone, in words; "" where they are the same or not known."""
    if ours.layers is None or reference.layers is None or ours.kind != reference.kind:
        return ""
    here, there = sorted({*ours.layers} - {*reference.layers}), sorted({*reference.layers} - {*ours.layers})
    if reference.kind in (TURNING, NOT_TURNING):
        turn, stand = (here, there) if reference.kind == TURNING else (there, here)
        parts = [
            _said(stand, "does not turn here", "do not turn here"),
            _said(turn, "turns here alone", "turn here alone"),
        ]
    else:
        kind = reference.kind
        parts = [
            _said(here, f"is {kind} here alone", f"are {kind} here alone"),
            _said(there, f"is {kind} in the reference alone", f"are {kind} in the reference alone"),
        ]
    return " and ".join(filter(None, parts))


def _said(numbers: Sequence[int], one: str, several: str) -> str:
    """A sentence about layers; the first few of many."""
    if not numbers:
        return ""
    shown = [str(number) for number in numbers[:MOST_SHOWN]]
    more = [f"{len(numbers) - MOST_SHOWN} more"] if len(numbers) > MOST_SHOWN else []
    *others, last = (*shown, *more)
    return f"layers {', '.join(others)} and {last} {several}" if others else f"layer {last} {one}"


def _partial(ours: LayerReading, reference: LayerReading) -> bool:
    """Whether some columns of a head turn and some do not."""
    return bool(ours.rotary_dim) and (ours.rotary_dim < ours.head_dim or reference.rotary_dim < reference.head_dim)


def _at_token(ours: LayerReading, reference: LayerReading, position: int, length: int, served: int) -> Difference:
    """The angles of one token of a sequence against those it has in the reference."""
    mine = ours.schedule.of_token(position, length, served).inverse
    theirs = reference.schedule.of_token(position, length, served).inverse
    apart = np.abs(mine - theirs)
    scale = np.maximum(np.where(theirs > 0, theirs, mine), STILL)
    relative, pair = apart / scale, int(np.argmax(apart))
    first, last = _plateau(relative)
    return Difference(
        reference.kind,
        length,
        phase=float(apart[pair] * position),
        pair=pair,
        relative=float(relative.max()),
        relative_pair=first,
        relative_last=last,
        pairs=len(relative),
        visible_from=_visible_from(float(apart[pair])) if relative.max() > NOISE else None,
    )


def _plateau(relative: Float64[np.ndarray, " pairs"]) -> tuple[int, int]:
    """The first pair that is off by the most, and the last of those next to it that are so too, but for rounding."""
    most = relative >= relative.max() * (1 - NOISE)
    first = int(np.argmax(most))
    ends = np.flatnonzero(~most[first:])
    return first, first + int(ends[0]) - 1 if len(ends) else len(relative) - 1


def _not_numbers(ours: LayerReading, reference: LayerReading, length: int, served: int) -> str:
    mine, theirs = (layer.schedule.at(length, served).inverse for layer in (ours, reference))
    for whose, inverse in (("", mine), (" of the reference", theirs)):
        if not np.isfinite(inverse).all():
            return f"the frequencies{whose} are no numbers"
    return f"{len(mine)} pairs have frequencies, {len(theirs)} in the reference" if len(mine) != len(theirs) else ""


def _ratio(ours: float, reference: float) -> float:
    """One where both are the same number, zero too; NaN where that says nothing."""
    if ours == reference:
        return 1.0
    return ours / reference if reference and math.isfinite(ours) and math.isfinite(reference) else math.nan


def effective_layout(layer: LayerReading) -> str:
    """The layout that the rows of the file must have for the arithmetic to be right."""
    if not layer.permuted:
        return layer.layout
    return "half" if layer.layout == "interleaved" else "interleaved"


def _visible_from(apart: float) -> int | None:
    """The distance from which two pairs are more than `VISIBLE` apart; None where no sequence is as long."""
    return int(np.floor(VISIBLE / apart * (1 + NOISE))) + 1 if apart * 2**40 > VISIBLE else None
