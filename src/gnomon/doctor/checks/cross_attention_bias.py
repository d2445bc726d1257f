"""PE317: a position bias in attention to another sequence."""

from collections.abc import Iterator

import numpy as np

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.calling import model
from gnomon.doctor.evidence.expected import claims_or_none, place
from gnomon.doctor.evidence.scores import Score, scores
from gnomon.report.document import Finding, Measured


@check("PE317", "cross-attention-bias", severity="error", needs=(model, scores))
def cross_attention_bias(subject: Subject) -> Iterator[Finding | Measured]:
    """Attention to another sequence gets a position bias, as if both were numbered alike.

    Why: place 3 of a translation has no distance to place 3 of its source. T5's numbers belong to the self-attention
    of encoder and decoder; reusing them between the two makes the decoder care in which order the encoder's states
    stand, although they carry their own positions, and weights of the original model no longer fit. Read off the logits
    of each attention whose keys come from elsewhere: what is left when the products of queries and keys are taken off.

    Fix: give the bias to self-attention only, and leave logits of cross-attention to content and its padding mask.

    Sources: Raffel et al. 2020, arXiv:1910.10683, section 2.1; transformers pull request 8518, rust-bert#171,
    google-research/text-to-text-transfer-transformer#415.
    """
    found = [score for score in scores(subject) if score.crossing]
    if not found:
        raise MissingEvidence("no attention to another sequence was seen whose bias can be read")
    stated = bool(claims_or_none(subject, "t5"))
    told = set[str]()
    for score in found:
        spread, limit = _spread(score), model(subject).tolerance
        yield Measured(f"position bias in {score.where}", spread, limit, "of a logit: between keys, one query")
        if spread > limit and place(score.where) not in told:
            told.add(place(score.where))
            yield Finding(
                place(score.where),
                f"attention to another sequence adds a bias that differs by up to {spread:.2g} between its keys",
                "no position bias in cross-attention: pass it to self-attention only",
                {"spread": spread},
                severity="error" if stated else "warning",
            )


def _spread(score: Score) -> float:
    """The largest difference between two keys that one query sees."""
    seen = np.isfinite(score.bias)
    high = np.where(seen, score.bias, -np.inf).max(axis=-1)
    low = np.where(seen, score.bias, np.inf).min(axis=-1)
    return float(np.where(seen.any(axis=-1), high - low, 0.0).max())
