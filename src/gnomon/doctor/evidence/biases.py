"""What a forward added to its attention logits, as one slope for each head where it is linear in the distance."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.evidence.base import evidence
from gnomon.doctor.evidence.record import Bias
from gnomon.doctor.evidence.trace import trace

NONE = 1e-6  # a bias below this is a mask, not a bias


@dataclass(frozen=True)
class BiasUse:
    """The bias of one attention, less each row's last visible entry (the softmax ignores a row constant).

    `slopes`: what the logits fall by for each step back, a head each; `curvature`: how far from linear, same units.
    """

    where: str
    slopes: Float64[np.ndarray, " heads"]
    curvature: float


@evidence
def bias_uses(subject: Subject) -> tuple[BiasUse, ...]:
    """The biases of one forward, the sum for each attention; raises MissingEvidence when only masks were added."""
    by_place: dict[str, list[Bias]] = {}
    for bias in trace(subject).biases:
        by_place.setdefault(bias.where, []).append(bias)
    uses = [use for where, parts in by_place.items() if (use := _use(where, parts)) is not None]
    if not uses:
        raise MissingEvidence("no position bias was added to the attention logits")
    return tuple(uses)


def _use(where: str, parts: list[Bias]) -> BiasUse | None:
    total = parts[0].values
    for part in parts[1:]:
        total = total + part.values
    last = total[0].double()[:, -1, :].numpy()  # (H, K): the last query sees every key, causal or not
    if not np.isfinite(last).all() or np.abs(last - last[:, :1]).max() < NONE:
        return None
    back = np.arange(last.shape[1])[::-1]  # distance from the last query
    centred = last - last[:, -1:]
    slopes = -(centred @ back) / (back @ back)
    return BiasUse(where, slopes, float(np.abs(centred + slopes[:, None] * back).max()))
