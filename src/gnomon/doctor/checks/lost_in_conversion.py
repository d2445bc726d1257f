"""PE108: a setting of positions that the original config has is gone, or other, in this one."""

from collections.abc import Iterator, Mapping
from typing import Any

from gnomon.adapters.families.published import PLAIN_BASE
from gnomon.adapters.subject import Subject
from gnomon.adapters.wording import shown
from gnomon.doctor.check import check
from gnomon.doctor.evidence.reference_config import reference_config
from gnomon.doctor.evidence.rope_blocks import RopeBlock
from gnomon.doctor.evidence.rotary_settings import RotarySettings, rotary_settings
from gnomon.report.document import Finding, Measured

SAME_NUMBER = 1e-6  # relative
#: keys that no conversion may change where both files state them
KEPT = (
    *("no_rope_layers", "no_rope_layer_interval", "layer_types", "rope_interleave", "alibi", "use_alibi"),
    *("position_embedding_type", "sinusoidal_pos_embds", "relative_attention", "position_buckets", "qk_rope_head_dim"),
    *("relative_attention_num_buckets", "relative_attention_max_distance", "sliding_window"),
)


@check("PE108", "lost-in-conversion", severity="error", needs=("config", reference_config))
def lost_in_conversion(subject: Subject) -> Iterator[Finding | Measured]:
    """A base, a rotated width or a list of layers of the original config is lost or changed in this one.

    Why: a converter copies the keys that its author thought of. The base that it forgets becomes the next reader's
    10,000, the partial factor becomes the whole head, and since all weights fit, nothing complains.

    Fix: write the original's value. A base may be raised on purpose, to extend the context, and then the stated length
    grows with it; automatic rules must start from the model's own base, and change nothing below its trained length.

    Sources: nanotron issue 188 (base lost in a round trip), llama.cpp issue 3090 (an automatic base that starts from
    10,000), marin issue 7156 (a file with the new keys only, read by older programs).
    """
    before, now = rotary_settings(reference_config(subject)), rotary_settings(subject.config)
    found = [*_bases(before, now), *_widths(before, now), *_keys(before.part, now.part), *_spelling(before, now)]
    yield Measured("settings that differ from the reference", len(found), 0, "base, width, layers, spelling")
    yield from found


def _bases(before: RotarySettings, now: RotarySettings) -> Iterator[Finding]:
    if not _is_rotary(before):
        return
    for kind in before.bases:
        old, new = before.base(kind), now.base(kind)
        if old is None or new is None or abs(old.value - new.value) <= SAME_NUMBER * old.value:
            continue
        longer = before.length and now.length and now.length > before.length
        if longer and new.value > old.value:
            continue  # extension by the base
        unasked = " though the stated length has not grown" if before.length == now.length and before.length else ""
        where = f"layers of kind {kind}" if kind else "config.json"
        yield Finding(
            where,
            f"the base was {old} and is {new}{unasked}",
            f"write rope_theta: {old.value:.10g}",
            {"before": old.value, "now": new.value},
        )


def _widths(before: RotarySettings, now: RotarySettings) -> Iterator[Finding]:
    old, new = before.lanes, now.lanes
    if _is_rotary(before) and old and new and old.value != new.value:
        yield Finding(
            "config.json",
            f"{old} lanes of a head were rotated and now {new}",
            f"write the share or the count under the key that this kind of file has: {old.value:g} lanes",
            {"before": old.value, "now": new.value},
        )


def _keys(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[Finding]:
    for key in KEPT:
        old, new = before.get(key), now.get(key)
        same_family = before.get("model_type") == now.get("model_type")
        if old == new or old is None or (new is None and not same_family):
            continue
        yield Finding(
            "config.json",
            f"{key} was {shown(old)} and is {shown(new)}",
            f"write {key}: {shown(old)}",
            {key: shown(new)},
            severity="warning" if new is None else "error",
        )


def _spelling(before: RotarySettings, now: RotarySettings) -> Iterator[Finding]:
    """The old spelling is gone: older programs find no base."""
    base = now.base("")
    if base is None or not base.key.startswith("rope_parameters.") or "rope_theta" not in before.part:
        return
    if now.part.get("rope_theta") is not None:
        return
    if base.value != PLAIN_BASE or now.scalings:
        yield Finding(
            "config.json",
            f"the base {base.value:g} is stated in rope_parameters alone, and the original had rope_theta: "
            f"transformers before 5, and programs that read its keys, find none and take {PLAIN_BASE:g}",
            f"write rope_theta: {base.value:g} as well" + (", and rope_scaling" if now.scalings else ""),
            {"base": base.value},
            severity="warning",
        )


def _is_rotary(settings: RotarySettings) -> bool:
    stated = any(not base.key.startswith("the default") for base in settings.bases.values())
    blocks: Mapping[str, RopeBlock] = settings.scalings
    return stated or bool(blocks)
