"""PE106: a key in the rotary block that nobody reads, or that another program reads and transformers does not."""

import difflib
import math
from collections.abc import Iterator
from typing import Any

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.adapters.wording import shown
from gnomon.doctor.check import check
from gnomon.doctor.evidence.rope_blocks import RopeBlock, positive, rope_blocks
from gnomon.report.document import Finding, Measured

#: read whatever the kind of scaling is: by all families, or by the families that write them
ALWAYS = frozenset(
    {
        *("rope_type", "type", "rope_theta", "partial_rotary_factor", "original_max_position_embeddings"),
        *("max_position_embeddings", "mrope_section", "mrope_interleaved", "llama_4_scaling_beta", "finetuned"),
    }
)
YARN = ("factor", "attention_factor", "beta_fast", "beta_slow", "mscale", "mscale_all_dim", "truncate")
LONGROPE = ("factor", "attention_factor", "short_factor", "long_factor")
READ: dict[str, tuple[str, ...]] = {
    "default": (),
    "axial": (),
    "mrope": (),
    "linear": ("factor",),
    "dynamic": ("factor", "alpha", "beta_fast", "beta_slow", "mscale", "mscale_all_dim"),  # HunYuan writes all
    "proportional": ("factor",),
    "yarn": YARN,
    "longrope": LONGROPE,
    "llama3": ("factor", "low_freq_factor", "high_freq_factor"),
    "ntk_alpha": ("alpha", "factor"),
}
#: read by other programs only, with the value that changes nothing where there is one
ELSEWHERE: dict[str, Any] = {
    "attn_factor": 1,  # SGLang, older vLLM, the authors' code
    "extrapolation_factor": 1,  # vLLM
    "ext_factor": 1,
    "short_mscale": None,  # Phi-3-small
    "long_mscale": None,
    "apply_yarn_scaling": None,  # vLLM
}
KNOWN = frozenset({*ALWAYS, *ELSEWHERE, *(key for keys in READ.values() for key in keys)})
ALIKE = 0.8  # share of letters, as difflib counts it


@check("PE106", "unread-scaling-keys", severity="warning", needs=("config",))
def unread_scaling_keys(subject: Subject) -> Iterator[Finding | Measured]:
    """A key in the rotary block has no effect: it is misspelt, belongs to another kind, or to another program.

    Why: readers take the keys they know and pass over the rest without a word. A letter too few in
    `original_max_position_embeddings`, a factor in a block whose kind is missing, or `attn_factor` where
    `attention_factor` is meant, and the model runs with other frequencies or another size of scores than the file says.

    Fix: spell the key as the kind of scaling reads it. `attention_factor` replaces what YaRN works out from its factor;
    `attn_factor` multiplies it, in SGLang, older vLLM and the authors' code; transformers ignores it, and llama.cpp
    puts a number of its own in its place under YaRN (by reading).

    Sources: transformers 5.24 `modeling_rope_utils.py` (which kind reads what); vLLM issues 46280 and 48351 and mlx-lm
    issue 1507 (an explicit attention factor dropped), SGLang and llama.cpp on `attn_factor` (PR #17945).
    """
    blocks = list(rope_blocks(subject.config))
    if not blocks:
        raise MissingEvidence("the config has no rope_scaling and no rope_parameters")
    keys = [(block, str(key)) for block in blocks for key, value in block.values.items() if value is not None]
    found = [finding for block, key in keys if (finding := _judge(block, key))]
    yield Measured("keys of rotary blocks without effect", len(found), 0, f"of {len(keys)}")
    yield from found


def _judge(block: RopeBlock, key: str) -> Finding | None:
    if key in ALWAYS or block.rule not in READ or key in READ[block.rule]:
        return None
    if key in ELSEWHERE:
        return _of_another_program(block, key)
    return _of_another_kind(block, key) if key in KNOWN else _unknown(block, key)


def _of_another_program(block: RopeBlock, key: str) -> Finding | None:
    value = block.values[key]
    if value == ELSEWHERE[key]:
        return None
    message, fix = (
        f"{key} is {value!r}, and transformers does not read it",
        f"know that only other programs apply {key}",
    )
    factor = positive(block.values.get("factor"))
    if key == "attn_factor" and (multiplier := positive(value)):
        given, own = positive(block.values.get("attention_factor")), 0.1 * math.log(max(factor or 1.0, 1.0)) + 1
        beside = f"attention_factor {given:g} replaces it there" if given else f"cos and sin stay at {own:.6g} there"
        message += f" ({beside}); SGLang and the authors' code multiply by it"
        fix = f"write attention_factor: {given or own * multiplier:.6g} and drop attn_factor"
    return Finding(block.where, message, fix, {key: value})


def _of_another_kind(block: RopeBlock, key: str) -> Finding | None:
    """A factor without its kind is a scaling that was lost; other keys are left over."""
    kind, value = block.rule, block.values[key]
    readers = [name for name, keys in READ.items() if key in keys]
    if value == 1 or not value:
        return None
    unnamed = not block.values.get("rope_type") and not block.values.get("type")
    named = "the block names no kind, which stands for default" if unnamed else f"the kind is {kind}"
    return Finding(
        block.where,
        f"{key} is {shown(value, 40)} but {named}: nothing reads it, and nothing is scaled by it",
        f"give rope_type the kind that was trained with ({', '.join(readers)}), or drop {key}",
        {key: shown(value, 40)},
        severity="error" if unnamed and key == "factor" else "warning" if key.endswith("factor") else "note",
    )


def _unknown(block: RopeBlock, key: str) -> Finding:
    spelt = key.strip().lower().replace("-", "_")
    near = difflib.get_close_matches(spelt, sorted(KNOWN), n=1, cutoff=ALIKE)
    if not near:
        return Finding(
            block.where,
            f"nothing that gnomon knows reads {key}",
            f"drop {key}, or make sure that the program which is to read it does",
            {key: shown(block.values[key], 40)},
            severity="note",
        )
    absent = block.values.get(near[0]) is None
    return Finding(
        block.where,
        f"nothing reads {key}; {near[0]} is what is read" + (", and the block lacks it" if absent else ""),
        f"rename {key} to {near[0]}" if absent else f"drop {key}",
        {key: shown(block.values[key], 40)},
        severity="error" if absent and near[0] in (*ALWAYS, *READ[block.rule]) else "warning",
    )
