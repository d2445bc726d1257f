"""Differences by effect: how far two readings turn apart, and how their logits differ; keys are not compared."""

from dataclasses import dataclass
from typing import final

import numpy as np

from gnomon.resolving.reading import LayerReading

NOISE = 2e-6  #: relative difference of a frequency or a logit scale that float32 tables have anyway
VISIBLE = 0.1  #: radians: a pair's score changes by about this share


@final
@dataclass(frozen=True)
class Difference:
    """One kind of layer of one stack against the reference, for the newest of `length` tokens.

    `phase`: the largest angle, in radians, between the same pair in both at that distance from the first token;
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
        return same and not self.incomparable and not self.layouts


def compared(ours: LayerReading, reference: LayerReading, length: int, served: int) -> Difference:
    """The difference at one length, where both servers were started for `served` tokens."""
    if ours.rotary_dim != reference.rotary_dim:
        why = f"{ours.rotary_dim} of {ours.head_dim} columns turn, {reference.rotary_dim} in the reference"
        return Difference(reference.kind, length, incomparable=why)
    logits = ours.logit_factor(length, served) / reference.logit_factor(length, served)
    layouts = ours.rotary_dim > 0 and effective_layout(ours) != effective_layout(reference)
    if not ours.rotary_dim:
        return Difference(reference.kind, length, logits=logits)
    mine, theirs = ours.schedule.at(length, served).inverse, reference.schedule.at(length, served).inverse
    if not np.isfinite(mine).all():
        return Difference(reference.kind, length, logits=logits, incomparable="the frequencies are not numbers")
    apart = np.abs(mine - theirs)
    scale = np.where(theirs > 0, theirs, np.where(mine > 0, mine, 1.0))
    relative, pair = apart / scale, int(np.argmax(apart))
    return Difference(
        reference.kind,
        length,
        phase=float(apart[pair] * (length - 1)),
        pair=pair,
        relative=float(relative.max()),
        relative_pair=int(np.argmax(relative)),
        logits=float(logits),
        visible_from=_visible_from(float(apart[pair])) if relative.max() > NOISE else None,
        layouts=layouts,
    )


def effective_layout(layer: LayerReading) -> str:
    """The layout that the rows of the file must have for the arithmetic to be right."""
    if not layer.permuted:
        return layer.layout
    return "half" if layer.layout == "interleaved" else "interleaved"


def _visible_from(apart: float) -> int | None:
    return int(np.ceil(VISIBLE / apart)) + 1 if apart * 2**40 > VISIBLE else None
