"""Differences by effect: how far two readings turn apart, and how their logits differ; keys are not compared."""

import math
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from gnomon.resolving.reading import LayerReading

NOISE = 2e-6  #: relative difference of a frequency or a logit scale that float32 tables have anyway
STILL = 1e-12  #: radians per position: no sequence is long enough to tell such a pair from one that stands
VISIBLE = 0.1  #: radians: a pair's score changes by about this share


@final
@dataclass(frozen=True)
class Difference:
    """One kind of layer of one stack against the reference, for the newest of `length` tokens.

    Where one of the two looks at each position on its own, for that older token whose angles are furthest off, if it is
    further off. `phase`: the largest angle, in radians, between the same pair in both, counted from the first token;
    `pair`: which; `relative`: the largest relative difference of a frequency, of `relative_pair`; `logits`: the ratio
    of the logit scales. `incomparable` says why there are no numbers (another width, one side does not turn, NaN).
    `visible_from`: the length from which some pair is more than `VISIBLE` apart, None if never.
    """

    kind: str
    length: int
    phase: float = 0.0
    pair: int = 0
    relative: float = 0.0
    relative_pair: int = 0
    logits: float = 1.0
    visible_from: int | None = None
    layouts: bool = False  #: rows and arithmetic do not fit together
    incomparable: str = ""

    @property
    def equal(self) -> bool:
        """Whether nothing but rounding is left."""
        same = self.relative <= NOISE and abs(self.logits - 1) <= NOISE
        return bool(same and not self.incomparable and not self.layouts)


def compared(ours: LayerReading, reference: LayerReading, length: int, served: int) -> Difference:
    """The difference at one length, where both servers were started for `served` tokens."""
    if ours.rotary_dim != reference.rotary_dim:
        why = f"{ours.rotary_dim} of {ours.head_dim} columns turn, {reference.rotary_dim} in the reference"
        return Difference(reference.kind, length, incomparable=why)
    logits = _ratio(ours.logit_factor(length, served), reference.logit_factor(length, served))
    if not ours.rotary_dim:
        return Difference(reference.kind, length, logits=logits)
    if why := _not_numbers(ours, reference, length, served):
        return Difference(reference.kind, length, logits=logits, incomparable=why)
    layouts = effective_layout(ours) != effective_layout(reference)
    edges = {length - 1, *ours.schedule.edges(length), *reference.schedule.edges(length)}
    found = [_at_token(ours, reference, position, length, served) for position in edges]
    worst = max(found, key=lambda one: (one.relative > NOISE, one.phase))
    return replace(worst, logits=logits, layouts=layouts)


def _at_token(ours: LayerReading, reference: LayerReading, position: int, length: int, served: int) -> Difference:
    """The angles of one token of a sequence against those it has in the reference."""
    mine = ours.schedule.of_token(position, length, served).inverse
    theirs = reference.schedule.of_token(position, length, served).inverse
    apart = np.abs(mine - theirs)
    scale = np.maximum(np.where(theirs > 0, theirs, mine), STILL)
    relative, pair = apart / scale, int(np.argmax(apart))
    return Difference(
        reference.kind,
        length,
        phase=float(apart[pair] * position),
        pair=pair,
        relative=float(relative.max()),
        relative_pair=int(np.argmax(relative)),
        visible_from=_visible_from(float(apart[pair])) if relative.max() > NOISE else None,
    )


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
    return int(np.ceil(VISIBLE / apart)) + 1 if apart * 2**40 > VISIBLE else None
