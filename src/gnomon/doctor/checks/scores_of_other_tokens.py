"""PE315: the score of two tokens changes with a third."""

from collections.abc import Iterator

import torch
from torch import Tensor

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.attending import AttentionCall, attention_calls
from gnomon.doctor.evidence.base import claims
from gnomon.doctor.evidence.calling import model
from gnomon.doctor.evidence.expected import place
from gnomon.encodings.base import registry
from gnomon.report.document import Finding, Measured

LENGTH, CHANGED = 13, 5
CONTEXTUAL = ("cope",)  #: encodings in which the tokens between two others count


@check("PE315", "scores-of-other-tokens", severity="error", needs=(model,))
def scores_of_other_tokens(subject: Subject) -> Iterator[Finding | Measured]:
    """The score of a query and a key changes when another token changes: rows of the position term are mixed up.

    Why: a logit is made from one query, one key and their distance. A relative shift that reads with the wrong stride,
    or drops the last row in place of the first, takes its numbers from the query of another row; training bends around
    it, and nothing crashes. One token is changed, and the logits between queries and keys that stayed what they were
    are compared. Encodings that count the tokens in between (CoPE) are left out.

    Fix: after the position products (B, H, Q, R) are padded by one column, view them as (B, H, R + 1, Q), drop the
    first row and view back; without a causal mask use 2 S - 1 distances, and take column S - 1 - query + key.

    Sources: Dai et al. 2019, arXiv:1901.02860, appendix B; labmlai/annotated_deep_learning_paper_implementations#185,
    second-state/cohere_transcribe_rs#4, espnet/espnet#2816.
    """
    stated = {claim.kind for claim in claims(subject)}
    if stated & set(CONTEXTUAL):
        raise MissingEvidence("the encoding counts the tokens between a query and a key")
    probe = model(subject)
    length = probe.length(LENGTH)
    if length < CHANGED + 2:
        raise MissingEvidence(f"the model takes {length} tokens at most")
    before, after = probe.draw(2, length, seed=7), probe.draw(2, length, seed=8)
    after = torch.cat((before[:, :CHANGED], after[:, CHANGED : CHANGED + 1], before[:, CHANGED + 1 :]), dim=1)
    judged, told = False, set[str]()
    for one, other in zip(attention_calls(probe, before), attention_calls(probe, after), strict=True):
        moved = _moved(one, other)
        if moved is None:
            continue
        judged, size = True, max(float(one.logits[one.logits.isfinite()].abs().max()), 1e-6)
        worst = float(moved.max()) / size
        yield Measured(f"scores of unchanged tokens in {one.where}", worst, probe.tolerance, "of the largest logit")
        if worst > probe.tolerance and place(one.where) not in told:
            told.add(place(one.where))
            known = bool(stated) and stated <= set(registry.names())
            yield _finding(one.where, moved, known=known)
    if not judged:
        raise MissingEvidence("no attention was seen in which a changed token leaves other queries and keys alone")


def _moved(one: AttentionCall, other: AttentionCall) -> Tensor | None:
    """How much each logit moved between a query and a key that did not, 0 elsewhere; None without any such two.

    Less the median of its row: the softmax ignores a constant there, and some code takes off the row's largest bias.
    """
    if one.logits.shape != other.logits.shape or one.query.shape != one.key.shape:
        return None
    queries, keys = (_same(a, b) for a, b in ((one.query, other.query), (one.key, other.key)))
    kept = queries[:, :, None] & keys[:, None, :] & one.logits.isfinite() & other.logits.isfinite()
    if not bool(kept.any()) or bool(queries.all() & keys.all()):
        return None
    moved = torch.where(kept, one.logits - other.logits, torch.nan)
    return (moved - moved.nanmedian(dim=-1, keepdim=True).values).nan_to_num().abs()


def _same(before: Tensor, after: Tensor) -> Tensor:
    """(N, S): which rows of (N, S, D) are what they were."""
    return (before - after).abs().amax(dim=-1) <= 1e-6 * before.abs().max()


def _finding(where: str, moved: Tensor, *, known: bool) -> Finding:
    row, query, key = (int(i) for i in torch.unravel_index(moved.argmax(), moved.shape))
    return Finding(
        place(where),
        f"changing token {CHANGED} moves the score of query {query} and key {key} by "
        f"{float(moved[row, query, key]):.2g}, though neither of them changed: the position term takes numbers from "
        "another row",
        "relative shift: pad one column on the left, view (R + 1, Q), drop the first row, view back",
        {"moved": float(moved.max()), "query": query, "key": key, "changed token": CHANGED},
        severity="error" if known else "warning",
    )
