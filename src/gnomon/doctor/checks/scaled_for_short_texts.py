"""PE702: positions are scaled for long texts, and the texts in use are short."""

from collections.abc import Iterator

from gnomon.adapters.claims import Claim
from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.expected import claims_of
from gnomon.doctor.evidence.lengths import lengths_in_use
from gnomon.report.document import Finding, Measured

STATIC = ("linear", "ntk", "yarn", "by_parts")  # the same frequencies at every length
SHORT = 0.99  # share of inputs


@check("PE702", "scaled-for-short-texts", severity="note", needs=(lengths_in_use, "claims"))
def scaled_for_short_texts(subject: Subject) -> Iterator[Finding | Measured]:
    """Nearly all inputs fit the length before scaling, but a static rule scales them too.

    Why: linear scaling, NTK and YaRN change the frequencies at every length, not only beyond the original one. On short
    inputs that costs accuracy and brings nothing, unless the model was trained on with the rule. Rules that look at the
    length (dynamic, LongRoPE) leave short inputs alone.

    Fix: take the scaling out of the config when it was added for length alone; keep it when the weights were trained
    with it.

    Sources: the model card of Qwen2.5-7B-Instruct (static YaRN may cost accuracy on shorter texts); Peng et al. 2023,
    arXiv:2309.00071.
    """
    used, judged = lengths_in_use(subject), False
    for claim in claims_of(subject, "rotary"):
        original = _original(claim)
        if original is None:
            continue
        judged = True
        share = float((used <= original).mean())
        name = f"inputs within the original length, {claim.where}"
        yield Measured(name, round(share, 4), SHORT, f"{original} tokens before scaling")
        if share >= SHORT:
            rule = claim.options["frequencies"]
            yield Finding(
                claim.where,
                f"{share:.1%} of inputs have at most {original} tokens, the length before scaling, but {rule['kind']}"
                f" by {rule['factor']:g} acts on them too",
                "take the scaling out of the config, unless the weights were trained with it",
                {"original length": original, "factor": rule["factor"], "longest input": int(used.max())},
            )
    if not judged:
        raise MissingEvidence("no static scaling of rotary positions is claimed")


def _original(claim: Claim) -> int | None:
    """The length before scaling; a config that does not say is taken to state the longer one."""
    rule, stated = claim.options.get("frequencies", {}), claim.options.get("stated_length")
    factor = rule.get("factor")
    if rule.get("kind") not in STATIC or not isinstance(factor, int | float) or factor <= 1:
        return None
    original = rule.get("original_max_length")
    if isinstance(original, int):
        return original
    return int(stated / factor) if isinstance(stated, int) else None
