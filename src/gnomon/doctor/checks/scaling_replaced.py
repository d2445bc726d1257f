"""PE109: the scaling that the weights were trained with is gone, replaced, or not composed with a new one."""

from collections.abc import Iterator

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.reference_config import reference_config
from gnomon.doctor.evidence.rope_blocks import RopeBlock, positive
from gnomon.doctor.evidence.rotary_settings import RotarySettings, rotary_settings
from gnomon.report.document import Finding, Measured

ORIGINAL = "original_max_position_embeddings"
BY_RATIO = ("linear", "dynamic", "yarn", "longrope")  # not llama3: Llama 3.1 has factor 8 for a ratio of 16
AGREE = 0.01


@check("PE109", "scaling-replaced", severity="error", needs=("config", reference_config))
def scaling_replaced(subject: Subject) -> Iterator[Finding | Measured]:
    """The original's scaling was wiped, replaced by another kind, or extended without composing the factors.

    Why: weights fit the frequencies they were trained with. A block written to widen the window takes the place of the
    native one; an empty override wipes it; a second extension counts its factor from the length that the first one had
    reached. Short text suffers as well as long text: perplexity rose from 10 to 11,316 in one report.

    Fix: keep the native kind with its base and bands, and count every factor from the original length: a model at
    linear 2 (from 4k to 8k) that is to reach 32k needs factor 8.

    Sources: Unsloth issue 7028 (llama3 replaced by linear), axolotl issue 383 (an empty rope_scaling wipes the
    model's own), LongLoRA issue 113 (a second extension).
    """
    before, now = rotary_settings(reference_config(subject)), rotary_settings(subject.config)
    if not before.scalings and not now.scalings:
        raise MissingEvidence("neither the config nor the reference scales its positions")
    found = [finding for kind in before.scalings for finding in _judge(kind, before, now)]
    yield Measured("scalings of the reference that are not kept", len(found), 0, f"of {len(before.scalings)}")
    yield from found
    if not before.scalings:
        yield from _new(before, now)


def _judge(kind: str, before: RotarySettings, now: RotarySettings) -> Iterator[Finding]:
    old, new = before.scalings[kind], now.scaling(kind)
    where = new.where if new else old.where
    if new is None:
        yield Finding(
            where,
            f"{_name(old)} was the original's scaling, and this config has none",
            "keep the original's block; pass no override at all rather than an empty one",
            {"before": old.rule, "now": "none"},
        )
    elif new.rule != old.rule:
        base = before.base(kind)
        yield Finding(
            where,
            f"{_name(old)} was replaced by {_name(new)}: other frequencies than the weights were trained with",
            f"keep the kind {old.rule}" + (f" with base {base.value:.10g}" if base else "") + " and its other numbers",
            {"before": old.rule, "now": new.rule},
            severity="warning" if old.rule == "dynamic" else None,
        )
    else:
        yield from _same_kind(old, new, before, now)


def _same_kind(old: RopeBlock, new: RopeBlock, before: RotarySettings, now: RotarySettings) -> Iterator[Finding]:
    origins = positive(old.values.get(ORIGINAL)), positive(new.values.get(ORIGINAL))
    factors = positive(old.values.get("factor")), positive(new.values.get("factor"))
    if all(origins) and origins[0] != origins[1]:
        yield Finding(
            new.where,
            f"{ORIGINAL} was {origins[0]:g} and is {origins[1]:g}: the bands of the scaling start from it",
            f"write {ORIGINAL}: {origins[0]:g}, the length before any scaling, and count the factor from it",
            {"before": origins[0], "now": origins[1]},
        )
    if not factors[0] or not factors[1]:
        return
    origin = origins[0] or (before.length / factors[0] if before.length else None)
    needed = now.length / origin if new.rule in BY_RATIO and origin and now.length else factors[0]
    needed = max(needed, factors[0])
    if factors[1] < needed * (1 - AGREE):
        reach = f" for {now.length:g} positions" if now.length else ""
        yield Finding(
            new.where,
            f"the factor is {factors[1]:g}, on top of the original's {factors[0]:g} it has to be {needed:g}{reach}",
            f"write factor: {needed:g}, counted from the original length" + (f" of {origin:g}" if origin else ""),
            {"before": factors[0], "now": factors[1], "needed": needed},
        )


def _new(before: RotarySettings, now: RotarySettings) -> Iterator[Finding]:
    """A first extension: its factor against how far the stated length has grown."""
    for block in now.scalings.values():
        factor = positive(block.values.get("factor"))
        if block.rule not in BY_RATIO or not (factor and before.length and now.length):
            continue
        ratio = now.length / before.length
        if ratio > 1 and abs(ratio - factor) > AGREE * factor:
            yield Finding(
                block.where,
                f"the stated length grew {ratio:g} times and the factor is {factor:g}",
                f"write factor: {ratio:g}, or state {before.length * factor:g} positions",
                {"ratio": ratio, "factor": factor},
                severity="warning",
            )


def _name(block: RopeBlock) -> str:
    factor = positive(block.values.get("factor"))
    return f"{block.rule} scaling" + (f" by {factor:g}" if factor else "")
