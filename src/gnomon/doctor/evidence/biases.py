"""What a forward added to its attention logits, as one slope for each head where it is linear in the distance."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.evidence.base import evidence
from gnomon.doctor.evidence.scores import Score, scores

NONE = 1e-5  # of the largest logit, or 1e-5: a bias below it is rounding

Matrix = Float64[np.ndarray, "heads queries keys"]


@dataclass(frozen=True)
class BiasUse:
    """The bias of one attention, less each row's last visible entry (the softmax ignores a row constant).

    `slopes`: what the logits fall by for each step back, a head each; `curvature`: how far from linear, same units.
    `ahead`: the same for each step forward, None where later keys are masked; `values`: the bias, masked -inf.
    """

    where: str
    slopes: Float64[np.ndarray, " heads"]
    curvature: float
    ahead: Float64[np.ndarray, " heads"] | None
    values: Matrix


@evidence
def bias_uses(subject: Subject) -> tuple[BiasUse, ...]:
    """The biases of one forward, one for each self-attention; raises MissingEvidence when only masks were added."""
    uses = uses_in(scores(subject))
    if not uses:
        raise MissingEvidence("no position bias was added to the attention logits")
    return uses


def uses_in(found: Sequence[Score]) -> tuple[BiasUse, ...]:
    """The biases among the scores of one run."""
    return tuple(use for score in found if (use := _use(score)) is not None)


def _use(score: Score) -> BiasUse | None:
    if score.crossing or score.bias.shape[1] != score.bias.shape[2]:
        return None
    last = score.bias[:, -1, :]  # (H, K): the last query sees every key, causal or not
    if not np.isfinite(last).all() or np.abs(last - last[:, :1]).max() < NONE:
        return None
    slopes, curvature = _line(last[:, ::-1])
    first = score.bias[:, 0, :]  # the first query sees every key only where later ones are not masked
    ahead = _line(first)[0] if np.isfinite(first).all() else None
    return BiasUse(score.where, slopes, curvature, ahead, score.bias)


def _line(falling: Float64[np.ndarray, "heads distances"]) -> tuple[Float64[np.ndarray, " heads"], float]:
    """How fast each head's bias falls over distances 0, 1, ..., and how far it is from a straight line."""
    distance = np.arange(falling.shape[1])
    centred = falling - falling[:, :1]
    slopes = -(centred @ distance) / (distance @ distance)
    return slopes, float(np.abs(centred + slopes[:, None] * distance).max())
