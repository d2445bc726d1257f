"""PE304: a causal model lets the future in."""

import re
from collections.abc import Iterator

import torch
from torch import Tensor

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.base import attempt, claims
from gnomon.doctor.evidence.calling import Model, model
from gnomon.doctor.evidence.conventions import FORMS, MaskForm
from gnomon.doctor.evidence.noise import difference
from gnomon.doctor.evidence.order import Causality, causality, other
from gnomon.doctor.evidence.signature import main_output, read_signature
from gnomon.report.document import Finding, Measured

LEAK = 1e-5
LENGTH = 13


@check("PE304", "causal-leak", severity="error", needs=(causality,))
def causal_leak(subject: Subject) -> Iterator[Finding | Measured]:
    """Changing the last token changes outputs before it, in a model that is declared causal.

    Why: the model then sees the answer while training and cannot see it while generating. A common cause in this
    field: an ALiBi bias used in place of the mask (`tril(-m |i - j|)` has zeros above the diagonal, which let the
    future in), or a fast attention path that gets a bias and so loses its causal flag.

    The other way round, a transposed mask shows each token the later ones only.

    Fix: keep mask and bias apart: add the bias, then apply the causal mask with -inf (or a boolean mask) on every path.

    Sources: transformers issue 29946 (Falcon with ALiBi, no causal part on the fast path); Press et al. 2022,
    arXiv:2108.12409, for the bias.
    """
    found = causality(subject)
    if found.backwards:
        yield _backwards(found, certain=bool(_declared_causal(subject)))
        return
    worst = max(found.leaks[:-1])
    changed = [place for place, moved in enumerate(found.leaks[:-1]) if moved > LEAK]
    untouched = len(found.leaks) - 1 - len(changed)
    # Looking both ways, everything moves, or what is near; a mask that works in part only leaves some places alone.
    partial = bool(changed) and untouched > 0 and not found.windowed
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
    elif found.causal:
        yield from _with_a_mask(subject)


def _backwards(found: Causality, *, certain: bool) -> Finding:
    """Each token sees those after it and none before: a mask that was transposed, or whose sense was taken wrongly."""
    leak = max(found.leaks[:-1])
    return Finding(
        "attention",
        f"each token sees only the later ones: the first of {len(found.leaks)} tokens changes no other output, the "
        f"last changes all before it, by up to {leak:.2g} of their size",
        "hide the keys after a query, triu(diagonal=1), not those before it; in scaled_dot_product_attention True "
        "means seen, in nn.MultiheadAttention True means hidden",
        {"leak": leak, "carried forward": max(found.carries[1:])},
        severity=None if certain else "warning",  # a model may read from right to left on purpose
    )


def _with_a_mask(subject: Subject) -> Iterator[Finding | Measured]:
    """A model that looks only backwards must do so when a mask of real tokens is passed, in whatever form it wants."""
    probe = model(subject)
    name = read_signature(probe.module, subject.example).mask
    if name is None:
        return
    content = probe.draw(2, probe.length(LENGTH), seed=12)
    changed = torch.cat(
        (content[:, :-1], content[:, :1] if not probe.takes_ids else other(probe, content)[:, -1:]), dim=1
    )
    leaks = {form: _leak(probe, content, changed, name, form) for form in (MaskForm(), *FORMS)}
    ran = {form: leak for form, leak in leaks.items() if leak is not None}
    if not ran:
        return
    least = min(ran.values())
    yield Measured(f"the same with {name} passed", least, LEAK, "a mask of real tokens only hides nothing")
    if least > LEAK:
        yield Finding(
            f"the argument {name}",
            f"with {name} passed, all of it real tokens, the last token changes earlier outputs by up to {least:.2g} "
            "of their size; without it, it does not",
            "merge the padding mask with the causal mask: a mask that is given must not take the causal one's place",
            {"leak": least},
            severity=None if name in ("attention_mask", "key_padding_mask", "src_key_padding_mask") else "warning",
        )


def _leak(probe: Model, content: Tensor, changed: Tensor, name: str, form: MaskForm) -> float | None:
    """How far outputs before the last move under a mask of this form; None where it fails or hides all tokens."""
    mask = form.of(torch.ones(content.shape[:2], dtype=torch.int64, device=content.device))
    first = torch.cat((changed[:, -1:], content[:, 1:]), dim=1)
    try:
        with torch.no_grad():
            before, after, mixed = (main_output(probe.forward(x, **{name: mask})) for x in (content, changed, first))
    except MissingEvidence:
        return None
    if before.shape[:2] != content.shape[:2] or not all(bool(x.isfinite().all()) for x in (before, after, mixed)):
        return None
    if difference(before[:, -1], mixed[:, -1]) <= LEAK:  # nothing looks back either: the mask is in the other sense
        return None
    return difference(before[:, :-1], after[:, :-1])


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
