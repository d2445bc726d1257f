"""What each attention adds to, and multiplies, its products of queries and keys by, whatever operations it uses.

Two rows of other content in one forward: the difference of their logits, against the difference of their products,
tells the multiplier; what is left of the logits is the bias, the same in both rows.
"""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float64
from torch import Tensor

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.evidence.attending import AttentionCall, Runs, attention_calls
from gnomon.doctor.evidence.base import evidence
from gnomon.doctor.evidence.calling import model

ROWS, LENGTH = 2, 29


@dataclass(frozen=True)
class Score:
    """The logits of one attention as multiplier * (q . k) + bias.

    `bias`: (H, Q, K), -inf where masked; `head_dim`: the width of the queries; `crossing`: the keys come from
    another sequence than the content.
    """

    where: str
    multiplier: float
    head_dim: int
    bias: Float64[np.ndarray, "heads queries keys"]
    crossing: bool


@evidence
def scores(subject: Subject) -> tuple[Score, ...]:
    """The attentions of one forward whose logits are of that form, in order; others (content biases, caps) are left."""
    probe = model(subject)
    return scores_in(probe, probe.draw(ROWS, probe.length(LENGTH)), probe.tolerance)


def scores_in(run: Runs, content: Tensor, tolerance: float) -> tuple[Score, ...]:
    """The same for one run on content (2, S, ...): two rows that differ."""
    calls = attention_calls(run, content)
    if not calls:
        raise MissingEvidence("no attention was seen whose queries, keys and logits can be read")
    return tuple(score for call in calls if (score := read_score(call, tolerance)) is not None)


def read_score(call: AttentionCall, tolerance: float) -> Score | None:
    """The multiplier and the bias of one attention over two rows; None when they do not explain its logits."""
    if call.logits.shape[0] % ROWS:
        return None
    first, second = call.logits.unflatten(0, (ROWS, -1))
    seen = first.isfinite() & second.isfinite()
    products = call.products.unflatten(0, (ROWS, -1))
    by_content = (products[0] - products[1])[seen]
    change = torch.where(seen, first, 0.0)[seen] - torch.where(seen, second, 0.0)[seen]
    size = float(by_content.square().sum())
    if not size:
        return None
    multiplier = float((by_content * change).sum()) / size
    off = float((change - multiplier * by_content).abs().max())
    if off > tolerance * max(float(change.abs().max()), float(first[seen].abs().max())):
        return None
    bias = torch.where(seen, first - multiplier * products[0], -torch.inf)
    crossing = torch.equal(*call.key.unflatten(0, (ROWS, -1)))
    return Score(call.where, multiplier, call.query.shape[-1], bias.cpu().numpy(), crossing)
