"""CTranslate2's `get_rotary_params` and its layers: which base, which kinds of scaling, and rows turned to halves."""

from dataclasses import replace
from typing import Final

from gnomon.resolving.readers.serving.layers import Layer, Turning
from gnomon.resolving.readers.transformers5.classes import rotation_of
from gnomon.resolving.rules import scaling
from gnomon.resolving.rules.angles import Schedule, Switched
from gnomon.resolving.rules.choices import Choices, unknown
from gnomon.resolving.rules.keys import Keys
from gnomon.resolving.rules.longrope import longrope
from gnomon.resolving.rules.scaling import ORIGINAL, Scaled
from gnomon.resolving.stopping import NoSuchModel

#: loaders that the converter has, among the families that gnomon has facts for
MODELS: Final = frozenset(
    {
        *("codegen", "falcon", "gemma", "gemma2", "gemma3", "gemma3_text", "gpt_neox", "gptj", "llama", "mistral"),
        *("phi", "phi3", "qwen2", "qwen3"),
    }
)
PERMUTED: Final = frozenset({"gptj", "codegen"})  #: the converter brings their rows into halves
FIXED: Final = frozenset({"gptj", "codegen", "gpt_neox", "falcon"})  #: no other base than 10,000 was traced
PARTIAL: Final = frozenset({"gptj", "codegen", "gpt_neox", "phi"})  #: part of the head turns; all of it elsewhere
FULL, LOCAL = "full_attention", "sliding_attention"
KNOWN: Final = {"linear": "linear", "su": "longrope", "longrope": "longrope", "llama3": "llama3", "default": "default"}


def turned(layer: Layer, choices: Choices) -> Turning:
    """One kind of layer."""
    if layer.model_type in FIXED:
        return _fixed(layer)
    if layer.model_type.startswith("gemma3"):
        return _gemma3(layer)
    text = layer.text
    new = choices.source == "transformers 5" and not text.values.get("rope_scaling")
    block = text.part("rope_parameters" if new else "rope_scaling")
    base = _base(layer, block, choices)
    dim = layer.block.rotary_dim.value if layer.model_type in PARTIAL else layer.head_dim
    text.lose("partial_rotary_factor", "the whole head turns")
    over = Scaled(base, dim, text.number("longest length", "max_position_embeddings"), None)
    rule = block.text("kind", *choices.kind_names, default="default")
    if rule not in KNOWN:
        unknown(choices, f"NotImplementedError: RoPE scaling type {rule!r} is not yet implemented")
    rule = KNOWN.get(rule, "default")
    return Turning(rule, base, dim, _schedule(rule, over, block, text, choices))


def _base(layer: Layer, block: Keys, choices: Choices) -> float:
    """Where a block stands, the base in it or the default; transformers 5 puts the one beside a block into it."""
    default = rotation_of(layer.model_type).base.base
    inside = block.number("base", "rope_theta")
    if inside is not None:
        layer.text.lose("rope_theta", "the base of the block wins")
        return float(inside)
    if block.values and choices.source == "transformers 4":
        layer.text.lose("rope_theta", "a base beside rope_scaling is not looked for")
        block.note("base", default)
        return default
    return float(layer.text.number("base", "rope_theta", default=default))


def _schedule(rule: str, over: Scaled, block: Keys, text: Keys, choices: Choices) -> Schedule:
    if rule == "linear":
        return scaling.linear(over, block)
    if rule == "llama3":
        return scaling.llama3(replace(over, original=block.number("original length", ORIGINAL)), block)
    if rule == "longrope":
        original = text.number("original length", ORIGINAL)
        schedule = longrope(replace(over, original=original), block, choices)
        if isinstance(schedule, Switched):
            words = f"long list once the tables have grown past {schedule.limit:g} tokens"
            return replace(schedule, words=words)
    return scaling.unscaled(over)


def _gemma3(layer: Layer) -> Turning:
    """Two bases; `factor` of the full layers is dropped."""
    text = layer.text
    new = text.part("rope_parameters").part(layer.block.kind)
    if new.values:
        base = new.number("base", "rope_theta", default=layer.block.base)
    elif layer.block.kind == LOCAL:
        base = text.number("base", "rope_local_base_freq", default=10_000.0)
    else:
        base = text.number("base", "rope_theta", default=1_000_000.0)
    text.part("rope_scaling").lose("factor", "Gemma 3 gets its two bases only")
    new.lose("factor", "Gemma 3 gets its two bases only")
    over = Scaled(base, layer.head_dim, None, None)
    return Turning("default", base, over.dim, scaling.unscaled(over))


def _fixed(layer: Layer) -> Turning:
    given = layer.block.base
    if given != 10_000:
        raise NoSuchModel(f"whether the base of {layer.model_type}, {given!r} here, reaches CTranslate2 was not traced")
    for name in ("rotary_emb_base", "rope_theta"):
        layer.text.take("base", name)
    dim = layer.block.rotary_dim.value
    layer.file.note("rotated width", dim, layer.block.rotary_dim.key)
    over = Scaled(10_000.0, dim, None, None)
    permuted = layer.model_type in PERMUTED
    return Turning(
        "default",
        over.base,
        dim,
        scaling.unscaled(over),
        layout="half" if permuted else None,
        permuted="rows of q and k go from pairs to halves when converted" if permuted else "",
    )
