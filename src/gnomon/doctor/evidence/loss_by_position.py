"""The loss of each next token by its position, on the caller's text."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from jaxtyping import Float64
from torch import Tensor

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.evidence.base import evidence
from gnomon.doctor.evidence.calling import Model, untouched_model
from gnomon.doctor.evidence.order import causality

ROWS, LONGEST, SHORTEST = 4, 1024, 32


@dataclass(frozen=True)
class PositionLoss:
    """Mean loss (nats) of the tokens at positions `start` to `stop` - 1, and its standard error over rows of text."""

    start: int
    stop: int
    mean: float
    error: float


@evidence
def loss_by_position(subject: Subject) -> tuple[PositionLoss, ...]:
    """Buckets that double in width, on rows cut from the text; weights as given, which must be trained."""
    if not subject.trained:
        raise MissingEvidence("the weights do not come from a checkpoint: the loss of random ones says nothing")
    text = torch.as_tensor(subject.get("text")).reshape(-1)
    probe = untouched_model(subject)
    if not causality(subject).causal:
        raise MissingEvidence("the model looks both ways: it predicts no next token")
    length = min(LONGEST, len(text) // ROWS)
    if length < SHORTEST:
        raise MissingEvidence(f"{len(text)} tokens of text are too few: at least {ROWS * SHORTEST}")
    length = probe.length(length)
    rows = text[: len(text) // length * length].reshape(-1, length).to(probe.device)
    return _buckets(_losses(probe, rows))


def _losses(probe: Model, rows: Tensor) -> Float64[np.ndarray, "rows places"]:
    """(N, S) tokens -> loss of token i + 1 at place i."""
    found = []
    for row in rows[:32]:
        logits = probe(row[None])
        if logits.ndim != 3 or logits.shape[-1] <= int(row.max()):
            raise MissingEvidence("the forward gives no logits over the tokens")
        losses = torch.nn.functional.cross_entropy(logits[0, :-1].double(), row[1:], reduction="none")
        found.append(losses.cpu().numpy())
    return np.stack(found)


def _buckets(losses: Float64[np.ndarray, "rows places"]) -> tuple[PositionLoss, ...]:
    edges = [0, *(1 << i for i in range(2, 31) if 1 << i < losses.shape[1]), losses.shape[1]]
    found = []
    for start, stop in pairwise(edges):
        means = losses[:, start:stop].mean(axis=1)
        error = float(means.std(ddof=1) / len(means) ** 0.5) if len(means) > 1 else float("inf")
        found.append(PositionLoss(start, stop, float(means.mean()), error))
    return tuple(found)
