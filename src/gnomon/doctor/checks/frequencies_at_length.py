"""PE413: frequencies that should depend on the length of the text are those of another length."""

from collections.abc import Iterator

import numpy as np
import torch
from jaxtyping import Float64

from gnomon.adapters.claims import Claim
from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.calling import Model, model
from gnomon.doctor.evidence.expected import claims_of, expected_rule, rotary_dim, wrapped
from gnomon.doctor.evidence.rotary import rotary_uses
from gnomon.doctor.evidence.trace import LENGTH, trace_forward
from gnomon.encodings.frequencies import Frequencies
from gnomon.report.document import Finding, Measured

LONGEST = 512  # tokens where position ids cannot be passed
ANGLE = 0.02  # radians at the last token; a table of float32 is good to 1e-3 at 16,384 positions


@check("PE413", "frequencies-at-length", severity="error", needs=(model, rotary_uses, "claims"))
def frequencies_at_length(subject: Subject) -> Iterator[Finding | Measured]:
    """With dynamic or LongRoPE scaling, a text is rotated with the frequencies of another length.

    Why: dynamic scaling leaves texts up to the original length alone and enlarges the base beyond it; LongRoPE has one
    list of factors for each side. A base that is computed once for the longest length spoils short texts. A length that
    is taken from the cache, which is empty at the first call, gives a long prompt the short factors.

    Fix: take the length from the positions of the call: the largest position and one more.

    Sources: vllm-project/vllm#5093 (one base for all lengths), EricLBuehler/mistral.rs#251 (length from an empty
    cache), transformers' Phi-3 for the switch.
    """
    probe = model(subject)
    rules = [(claim, rule) for claim in claims_of(subject, "rotary") if (rule := _depends(claim)) is not None]
    if not rules:
        raise MissingEvidence("no claimed frequencies depend on the length of the text")
    rotary_uses(subject)
    for claim, rule in rules:
        original = int(claim.options["frequencies"]["original_max_length"])
        for length in (original, 2 * original):
            yield from _at(probe, claim, rule, original, length)


def _depends(claim: Claim) -> Frequencies | None:
    try:
        rule = expected_rule(claim)
    except MissingEvidence:
        return None
    original = claim.options.get("frequencies", {}).get("original_max_length")
    known = isinstance(original, int | float) and original > 1 and original == int(original)
    return rule if known and rule.regime(int(original)) != rule.regime(2 * int(original)) else None


def _at(probe: Model, claim: Claim, rule: Frequencies, original: int, length: int) -> Iterator[Finding | Measured]:
    """The last token of a text of `length` tokens, against the rule at that length and at others."""
    turned = _last_angles(probe, length)
    width = rotary_dim(claim)
    fitting = [angles for angles in turned if len(angles) == width // 2]
    if not fitting:
        return

    def error(at: int) -> float:
        wanted = (length - 1) * rule.at_length(at).inverse(width)
        return min(float(np.abs(wrapped(angles - wanted)).max()) for angles in fitting)

    found = error(length)
    yield Measured(f"angle of the last of {length} tokens, {claim.where}", found, ANGLE, "radians from the rule's")
    if found > ANGLE:
        others = [at for at in (original, 2 * original, 4 * original) if at != length and error(at) <= ANGLE]
        instead = f"; they are those of a text of {others[0]} tokens" if others else ""
        yield Finding(
            claim.where,
            f"a text of {length} tokens is not rotated with the frequencies that the config's "
            f"{claim.options['frequencies']['kind']} scaling of {original} gives it{instead}",
            f"take the length from the positions of the call, here {length}: "
            + ("the original frequencies up to" if length <= original else "the scaled frequencies beyond")
            + f" {original}",
            {"angle": found, "length": length},
        )


def _last_angles(probe: Model, length: int) -> list[Float64[np.ndarray, " pairs"]]:
    """Angles of the last token in each rotation of a text of `length` tokens, by position ids if it is long."""
    ids = None
    if length > LENGTH and probe.signature.positions is not None:
        ids = torch.arange(length - LENGTH, length, device=probe.device)[None]
    elif length > LONGEST:
        raise MissingEvidence(f"the forward takes no position ids, and {length} tokens take too long")
    content = probe.draw(1, length if ids is None else LENGTH, seed=151)
    rotations = trace_forward(probe, content, positions=ids).rotations
    return [r.angles()[0, -1].double().numpy() for r in rotations if r.axis == "sequence"]
