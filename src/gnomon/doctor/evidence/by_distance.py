"""Whether scores depend on the distance alone: between equal tokens, steps along a row of logits, diagonal by diagonal.

Steps between neighbouring keys, because the softmax ignores a constant in each row. The first token is left out: some
models give it no place among the others (Funnel's <cls>).
"""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float64

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.evidence.attending import AttentionCall
from gnomon.doctor.evidence.base import evidence
from gnomon.doctor.evidence.repeated import repeated_calls
from gnomon.doctor.evidence.turned import lanes_of


@dataclass(frozen=True)
class ByDistance:
    """The scores of one attention between equal tokens.

    `apart`: by how much two steps at one distance differ; `worst`: that distance, key - query, and the two queries;
    `length`: by how much a step changes when the input is longer; `size`: of the largest logit.
    """

    where: str
    apart: float
    worst: tuple[int, int, int]
    length: float
    lengths: tuple[int, int]
    size: float


@evidence
def scores_by_distance(subject: Subject) -> tuple[ByDistance, ...]:
    """Each self-attention into which no positions came with the hidden vectors: queries and keys only turn."""
    runs = repeated_calls(subject)
    shorter = runs[0] if len(runs[0]) == len(runs[-1]) else runs[-1]
    found = [_measure(long, short) for short, long in zip(shorter, runs[-1], strict=True) if _without_positions(long)]
    if not found:
        raise MissingEvidence("positions come into every attention with the hidden vectors")
    return tuple(found)


def _without_positions(call: AttentionCall) -> bool:
    return not any(lanes.unexplained or lanes.torn for lanes in lanes_of(call))


def _measure(long: AttentionCall, short: AttentionCall) -> ByDistance:
    by_distance = {}
    apart, worst = 0.0, (0, 0, 0)
    for distance, queries, steps in _diagonals(long):
        by_distance[distance] = steps[:, -1]
        low, high = steps.argmin(axis=1), steps.argmax(axis=1)
        spread = steps.max(axis=1) - steps.min(axis=1)
        row = int(spread.argmax())
        if spread[row] > apart:
            apart, worst = float(spread[row]), (distance, int(queries[low[row]]), int(queries[high[row]]))
    changes = [
        float(np.abs(steps[:, -1] - by_distance[distance]).max())
        for distance, _, steps in _diagonals(short)
        if distance in by_distance and len(steps) == len(by_distance[distance])
    ]
    seen = long.logits[long.logits.isfinite()]
    size = float(seen.abs().max()) if seen.numel() else 0.0
    lengths = (short.query.shape[1], long.query.shape[1])
    return ByDistance(long.where, apart, worst, max(changes, default=0.0), lengths, size)


def _diagonals(call: AttentionCall) -> list[tuple[int, Float64[np.ndarray, " n"], Float64[np.ndarray, "rows n"]]]:
    """For each distance key - query the queries that see it, and the steps of their logits from the key before."""
    logits = call.logits[:, 1:, 1:]
    steps = torch.where(logits.isfinite(), logits, torch.nan).diff(dim=-1)
    length = logits.shape[-1]
    found = []
    for distance in range(2 - length, length):
        diagonal = steps.diagonal(offset=distance - 1, dim1=-2, dim2=-1).cpu().numpy()
        seen = np.isfinite(diagonal).all(axis=0)
        queries = np.arange(diagonal.shape[1]) + max(0, 1 - distance) + 1
        if seen.any():
            found.append((distance, queries[seen], diagonal[:, seen]))
    return found
