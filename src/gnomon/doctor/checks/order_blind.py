"""PE302: the order of the tokens changes nothing."""

from collections.abc import Iterator

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.base import attempt, claims
from gnomon.doctor.evidence.calling import model
from gnomon.doctor.evidence.entry import entry
from gnomon.doctor.evidence.expected import NO_POSITIONS
from gnomon.doctor.evidence.order import causality, mixing, reordering
from gnomon.doctor.evidence.tables import position_tables
from gnomon.doctor.thresholds import Threshold
from gnomon.report.document import Finding, Measured, Severity

BLIND = Threshold(1e-3, "must exceed; a blind model gives its rounding, 1e-5, 40 healthy models 0.3 and more")


@check("PE302", "order-blind", severity="error", needs=(reordering, mixing))
def order_blind(subject: Subject) -> Iterator[Finding | Measured]:
    """Reordering the input only reorders the output: no position reaches the model.

    Why: without positions, attention treats its input as a set: f(P x) = P f(x) for every reordering P, exactly. "Dog
    bites man" and "man bites dog" get the same vectors. In a causal model of two or more layers the mask alone tells
    some order; a single causal layer is still blind to the order of what came before. A causal model that claims no
    positions gets a note, no error, and a model of vectors that has none a warning: they may be a set. The effect is
    measured against that of changing the tokens, so that small weights do not look blind.

    Fix: look where positions should enter: a table multiplied by a mask of zeros, an `if` that skips it, a module
    that is built and never called, or a zero table that never trained.

    Sources: Haviv et al. 2022, arXiv:2203.16634, and Kazemnejad et al. 2023, arXiv:2305.19466, on causal models without
    positions; the equivariance proof in docs/article.md.
    """
    if attempt(lambda s: s.get("ordered"), subject) is False:
        raise MissingEvidence("the caller says that order must not matter (ordered=False)")
    causal = causality(subject).causal
    effect = reordering(subject) / mixing(subject)
    yield Measured("effect of reordering tokens / of changing them", effect, BLIND.value, BLIND.why)
    if effect >= BLIND.value:
        return
    claimed = _claims_positions(subject)
    yield Finding(
        entry_place(subject),
        "reordering the tokens changes nothing"
        + (" of the last output" if causal else " but the order of the outputs"),
        "positions never reach the first attention: the table is masked out, skipped, zero or never called"
        if claimed
        else "add a position encoding, or say that order must not matter (ordered=False in gnomon.diagnose)",
        {"effect": effect, "causal": causal},
        severity=_severity(subject, causal=causal, claimed=claimed),
    )


def _severity(subject: Subject, *, causal: bool, claimed: bool) -> Severity:
    """Words have an order; vectors may be a set, and a causal model of several layers may do without positions."""
    if claimed:
        return "error"
    if causal:
        return "note"
    return "error" if model(subject).takes_ids else "warning"


def entry_place(subject: Subject) -> str:
    """The name of what should carry the positions: the table if there is one, else the module that takes the sum."""
    stored = attempt(position_tables, subject)
    if stored:
        return stored[0].name
    found = attempt(entry, subject)
    return found.where if found else "the model"


def _claims_positions(subject: Subject) -> bool:
    stated = claims(subject)
    if stated:
        return any(claim.kind not in NO_POSITIONS for claim in stated)
    return attempt(position_tables, subject) is not None
