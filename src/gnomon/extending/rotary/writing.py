"""A composed extension as edits of config.json, in the spellings of transformers 4 and 5 that all stacks read alike.

`rope_scaling` and `rope_parameters` get the same block with the base in it, and the base stands beside them too: a
reader takes whichever it knows, and none falls back to its default base. Kinds of layers with bases of their own get
one `rope_parameters` for each kind, as version 5 has it, and beside them what version 4 read where it had such models.
"""

from collections.abc import Mapping
from typing import Any, Final

from gnomon.adapters.families.config_reader import ConfigReader
from gnomon.errors import GnomonError
from gnomon.extending.plan import Plan
from gnomon.extending.rotary.composing import Composed
from gnomon.extending.rotary.held import ORIGINAL, Held, Scaled
from gnomon.extending.rotary.reading import RotaryConfig, stated_lengths
from gnomon.extending.rotary.statements import BLOCKS
from gnomon.extending.sentences import sentences

#: families that declare the original length beside the block; transformers 4, ExLlamaV2 and TGI read that of longrope
#: nowhere else
BESIDE: Final = ("phi3", "phimoe", "phi4_multimodal")
#: what version 4 called the keys of the block that stood beside it
NEOX: Final = {"rope_theta": "rotary_emb_base", "partial_rotary_factor": "rotary_pct"}
OLD_NAMES: Final = {"gpt_neox": NEOX, "gpt_neox_japanese": NEOX}
#: families whose class in transformers 5 leaves head_dim null, which its yarn and dynamic rules then multiply
HEAD_WIDTH: Final = ("mixtral", "ministral", "minimax", "hunyuan_v1_dense", "hunyuan_v1_moe", "hunyuan_vl_text")
LOCAL: Final = {"gemma3": "rope_local_base_freq", "modernbert": "local_rope_theta"}
GLOBAL: Final = {"gemma3": "rope_theta", "modernbert": "global_rope_theta"}


def rotary_plan(rotary: RotaryConfig, composed: Composed) -> Plan:
    """The edits; raises GnomonError where a config holds blocks that no form can hold together."""
    edits: dict[str, Any] = {}
    if composed.scaled:
        edits = _nested(rotary, composed) if rotary.nested else _flat(rotary, *composed.layers[0])
    edits |= _lengths(rotary, composed)
    return Plan(
        config={rotary.prefix + key: value for key, value in edits.items()},
        words=sentences(composed.words),
        drawbacks=sentences(composed.drawbacks),
    )


def _flat(rotary: RotaryConfig, held: Held, scaled: Scaled | None) -> dict[str, Any]:
    if scaled is None:
        return {}
    base = scaled.base
    names = OLD_NAMES.get(rotary.model_type, {})
    edits: dict[str, Any] = {"rope_theta": base}
    if held.base_key in rotary.part:
        edits[held.base_key] = base
    if names:
        edits[names["rope_theta"]] = base
    if scaled.rule == "default":
        for name in BLOCKS:
            if _block(rotary, name):
                edits[f"{name}.rope_theta"] = base
    else:
        for name in BLOCKS:
            edits[name] = _ordered(_block(rotary, name), scaled, name)
    if rotary.model_type in HEAD_WIDTH:
        edits["head_dim"] = ConfigReader(rotary.part).head_dim().value
    if (share := scaled.values.get("partial_rotary_factor")) is not None:
        edits[names.get("partial_rotary_factor", "partial_rotary_factor")] = share
    return edits


def _nested(rotary: RotaryConfig, composed: Composed) -> dict[str, Any]:
    """One block for each kind, beside what is read of flat files of the same family."""
    there = _block(rotary, "rope_parameters")
    blocks: dict[str, Any] = {key: value for key, value in there.items() if not isinstance(value, Mapping)}
    edits: dict[str, Any] = {}
    family = next((name for name in LOCAL if rotary.model_type.startswith(name)), None)
    for held, scaled in composed.layers:
        kind = str(held.kind)
        now = scaled or Scaled(held.rule, held.base, held.values, composed.positions)
        old = there.get(kind)
        blocks[kind] = _ordered(old if isinstance(old, Mapping) else {}, now, "rope_parameters")
        full = kind == "full_attention"
        if family and (full or kind == "sliding_attention"):
            key = (GLOBAL if full else LOCAL)[family]
            edits[key] = now.base
        if family == "gemma3" and full and now.rule != "default":
            edits["rope_scaling"] = _ordered(_block(rotary, "rope_scaling"), now, "rope_parameters")
    if family != "gemma3" and _block(rotary, "rope_scaling"):
        raise GnomonError(
            "The config has kinds of layers with bases of their own and one rope_scaling for all; "
            "move it into rope_parameters, to the kinds that it is for."
        )
    return {**edits, "rope_parameters": blocks}


def _ordered(old: Mapping[str, Any], scaled: Scaled, name: str) -> dict[str, Any]:
    """The block, its old keys in their old order. Its kind stands there once: two readers stop where it stands twice.

    In `rope_scaling` an old file's `type` stays, which is the only spelling that some readers of it know.
    """
    kind = "type" if name == "rope_scaling" and "type" in old else "rope_type"
    new = {kind: scaled.rule, "rope_theta": scaled.base, **scaled.values}
    if "max_position_embeddings" in new:  # Ministral 3 states it inside once more
        new["max_position_embeddings"] = scaled.positions
    return {key: new[key] for key in dict.fromkeys((*old, *new)) if key in new}


def _lengths(rotary: RotaryConfig, composed: Composed) -> dict[str, Any]:
    """All keys that state a length. The one that readers of dynamic scaling count from keeps the original length."""
    to, main = composed.lengths.to, "max_position_embeddings"
    stated = stated_lengths(rotary)
    first = main if main in stated or not stated else next(iter(stated))
    edits: dict[str, Any] = dict.fromkeys(stated, to) | {first: composed.positions}
    rules = {scaled.rule for _, scaled in composed.layers if scaled is not None}
    if ORIGINAL in rotary.part or (rules and rotary.model_type in BESIDE) or "longrope" in rules:
        edits[ORIGINAL] = composed.lengths.beside or composed.lengths.original
    return edits


def _block(rotary: RotaryConfig, name: str) -> Mapping[str, Any]:
    found = rotary.part.get(name)
    return found if isinstance(found, Mapping) else {}
