"""ExLlamaV3's `read_rope_settings_default` and `RoPE`: keys looked up in both spellings, YaRN's factor from lengths."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from gnomon.adapters.families.rotary_rule import Fraction
from gnomon.resolving.readers.serving.layers import Layer, Turning
from gnomon.resolving.readers.transformers5.classes import rotation_of
from gnomon.resolving.rules import formulas, scaling
from gnomon.resolving.rules.angles import Always, Angles, Schedule, Temperature
from gnomon.resolving.rules.choices import Choices, known
from gnomon.resolving.rules.keys import Keys
from gnomon.resolving.rules.longrope import longrope
from gnomon.resolving.rules.scaling import ORIGINAL, Scaled
from gnomon.resolving.rules.yarn import softmax_multiplier, yarn, yarn_factor
from gnomon.resolving.stopping import NoSuchModel, StackStops

#: architectures that it has, among the families that gnomon has facts for; read at 000ad6a
MODELS: Final = frozenset(
    {
        *("arcee", "cohere", "cohere2", "deepseek_v3", "ernie4_5", "gemma2", "gemma3", "gemma3_text", "glm4"),
        *("gpt_oss", "llama", "minimax_m2", "ministral3", "mistral", "mixtral", "phi3", "qwen2", "qwen3", "qwen3_moe"),
        *("qwen2_5_vl", "qwen2_5_vl_text", "seed_oss", "smollm3"),
    }
)
LOCAL: Final = "sliding_attention"


def turned(layer: Layer, choices: Choices, override: int | None) -> Turning:
    """One kind of layer; `override` stands for the longest length where LongRoPE picks its list."""
    text = layer.text
    block = text.part("rope_scaling" if text.has("rope_scaling") and text.values["rope_scaling"] else "rope_parameters")
    if any(isinstance(value, Mapping) for value in block.values.values()):
        raise NoSuchModel("how blocks for each layer type are read was not traced")
    if layer.block.kind == LOCAL and layer.model_type.startswith("gemma3"):
        over = _over(layer, block, text.number("base", "rope_local_base_freq", default=10_000.0))
        return Turning("default", over.base, over.dim, scaling.unscaled(over))
    base = text.number("base", "rope_theta", "rope_parameters.rope_theta", default=_base(layer))
    over = _over(layer, block, base)
    if block.text("kind", *choices.kind_names, default="default") == "proportional":
        over = replace(over, dim=layer.block.turned.value)
    rule = block.text("kind", *choices.kind_names, default="default")
    rule = {"mrope": "default", "su": "longrope"}.get(rule, rule)
    rule, build = known(_KINDS, rule, choices, f"ValueError: Unknown rope_type: {rule}")
    schedule = build(layer, over, block, choices)
    if rule == "longrope" and override is not None:
        text.note("served length", override)
    return Turning(
        rule,
        base,
        over.dim,
        schedule,
        softmax=_softmax(layer, block),
        temperature=_temperature(block, over) if rule == "yarn" else None,
    )


def _base(layer: Layer) -> float:
    """The base of an architecture whose file has none: that of its family's code."""
    return rotation_of(layer.model_type).base.base


def _over(layer: Layer, block: Keys, base: float) -> Scaled:
    text = layer.text
    turned = layer.block.turned.value
    rule = rotation_of(layer.model_type).rotated
    share = text.number(
        "rotated share",
        "partial_rotary_factor",
        "rope_parameters.partial_rotary_factor",
        default=rule.default if isinstance(rule, Fraction) else 1.0,
    )
    dim = text.whole("rotated width", "rotary_dim") or int(turned * share)
    original = block.number("original length", ORIGINAL)
    return Scaled(base, dim, text.number("longest length", "max_position_embeddings"), original)


def _linear(layer: Layer, over: Scaled, block: Keys, choices: Choices) -> Schedule:
    return Always(Angles(over.plain / block.number("factor", "factor", default=1.0)))


def _llama3(layer: Layer, over: Scaled, block: Keys, choices: Choices) -> Schedule:
    return scaling.llama3(over, block, factor=8.0, low=1.0, high=4.0, original=8192.0)


def _yarn(layer: Layer, over: Scaled, block: Keys, choices: Choices) -> Schedule:
    """Factor: longest / original whenever an original length is given. Magnitude: see `_magnitude`."""
    if over.longest is None:
        raise StackStops("AssertionError: YaRN scaling requires explicit max_position_embeddings")
    if over.original is not None and over.original != int(over.original):
        raise StackStops(f"ValueError: {ORIGINAL} must be an integer")
    if choices.yarn_magnitude != "own":
        return yarn(over, block, choices)
    return yarn(over, block, choices, magnitude=_magnitude(layer, yarn_factor(over, block, choices), block))


def _magnitude(layer: Layer, factor: float, block: Keys) -> float:
    """`attention_factor`; DeepSeek's ratio in DeepSeek only; 1 beside `llama_4_scaling_beta`; g(factor)."""
    given = block.number("attention_factor", "attention_factor")
    if given is not None:
        return float(given)
    if layer.model_type == "deepseek_v3":
        above, below = (block.number(name, name) for name in ("mscale", "mscale_all_dim"))
        if above and below:
            return formulas.magnitude(factor, above) / formulas.magnitude(factor, below)
    for name in ("mscale", "mscale_all_dim"):
        block.lose(name, "counts in DeepSeek's architecture only")
    return 1.0 if block.number("llama_4_scaling_beta", "llama_4_scaling_beta") else formulas.magnitude(factor)


def _longrope(layer: Layer, over: Scaled, block: Keys, choices: Choices) -> Schedule:
    """The original length of the block, else the one beside it; the long list where the longest length is above it."""
    beside = layer.text.number("original length", ORIGINAL) if over.original is None else over.original
    return longrope(replace(over, original=beside), block, choices)


def _softmax(layer: Layer, block: Keys) -> float | None:
    if layer.model_type != "deepseek_v3":
        return None
    return softmax_multiplier(block, factor=None)


def _temperature(block: Keys, over: Scaled) -> Temperature | None:
    beta = block.number("temperature", "llama_4_scaling_beta", default=0.0)
    length = over.original or over.longest
    return Temperature(beta, length) if beta and length else None


def _proportional(layer: Layer, over: Scaled, block: Keys, choices: Choices) -> Schedule:
    """Frequencies spread over the whole head, zero from the share on, divided by a factor where there is one."""
    share = layer.text.number(
        "share of pairs", "partial_rotary_factor", "rope_parameters.partial_rotary_factor", default=1.0
    )
    factor = block.number("factor", "factor", default=1.0)
    return Always(Angles(formulas.proportional(over.base, over.dim, share, factor)))


def _default(layer: Layer, over: Scaled, block: Keys, choices: Choices) -> Schedule:
    return scaling.unscaled(over)


_KINDS: Final[Mapping[str, tuple[str, Callable[[Layer, Scaled, Keys, Choices], Schedule]]]] = {
    "default": ("default", _default),
    "linear": ("linear", _linear),
    "llama3": ("llama3", _llama3),
    "yarn": ("yarn", _yarn),
    "longrope": ("longrope", _longrope),
    "proportional": ("proportional", _proportional),
}
