"""PE304: a causal model lets the future in."""

import re
from collections.abc import Iterator

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.base import attempt, claims
from gnomon.doctor.evidence.order import causality
from gnomon.report.document import Finding, Measured

LEAK = 1e-5


@check("PE304", "causal-leak", severity="error", needs=(causality,))
def causal_leak(subject: Subject) -> Iterator[Finding | Measured]:
    """Changing the last token changes outputs before it, in a model that is declared causal.

    Why: the model then sees the answer while training and cannot see it while generating. A common cause in this
    field: an ALiBi bias used in place of the mask (`tril(-m |i - j|)` has zeros above the diagonal, which let the
    future in), or a fast attention path that gets a bias and so loses its causal flag.

    Fix: keep mask and bias apart: add the bias, then apply the causal mask with -inf (or a boolean mask) on every path.

    Sources: transformers issue 29946 (Falcon with ALiBi, no causal part on the fast path); Press et al. 2022,
    arXiv:2108.12409, for the bias.
    """
    found = causality(subject)
    worst = max(found.leaks[:-1])
    changed = [place for place, moved in enumerate(found.leaks[:-1]) if moved > LEAK]
    untouched = len(found.leaks) - 1 - len(changed)
    # Looking both ways, everything moves; a mask that works in part only leaves some places alone.
    partial = bool(changed) and untouched > 0
    declared = _declared_causal(subject)
    if not declared and not partial:
        looks = "looks only backwards" if found.causal else "looks both ways"
        unsaid = ", and nothing says which is meant (causal=True in gnomon.diagnose does)" if declared is None else ""
        raise MissingEvidence(f"the model {looks}{unsaid or ', as it is meant to'}")
    yield Measured("effect of the last token on earlier outputs", worst, LEAK, "exactly 0 but for rounding")
    if changed:
        yield Finding(
            "attention",
            f"changing the last of {len(found.leaks)} tokens changes {len(changed)} earlier outputs, "
            f"first at place {changed[0]}, by up to {worst:.2g} of their size",
            "apply the causal mask on every attention path, apart from any position bias",
            {"leak": worst, "places": len(changed)},
        )


def _declared_causal(subject: Subject) -> bool | None:
    """By the caller, by the family (unless a claim says that it looks both ways: XLNet), or by the class's name."""
    said = attempt(lambda s: s.get("causal"), subject)
    if said is not None:
        return bool(said)
    if any(claim.options.get("direction") == "bi" for claim in claims(subject)):
        return False
    family = attempt(lambda s: s.get("family"), subject)
    if family is not None:
        return bool(family.architecture == "decoder")
    return True if re.search(r"CausalLM|LMHead|Decoder|GPT", type(subject.module).__name__) else None
