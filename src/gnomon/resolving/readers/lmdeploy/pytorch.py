"""lmdeploy's PyTorch engine: `build_rotary_params` and the modules of its default backend."""

from collections.abc import Callable, Mapping
from typing import Final

from gnomon.resolving.readers.serving.layers import Layer, Rope, Turning, fraction
from gnomon.resolving.readers.serving.numbers import width
from gnomon.resolving.rules import scaling
from gnomon.resolving.rules.angles import Schedule
from gnomon.resolving.rules.choices import Choices
from gnomon.resolving.stopping import NoSuchModel, StackStops

#: model types that its map of modules has
MODELS: Final = frozenset(
    {
        *("llama", "llama4", "llama4_text", "mistral", "mixtral", "starcoder2", "phi3", "internlm2", "internlm3"),
        *("qwen2", "qwen2_moe", "qwen2_vl", "qwen2_vl_text", "qwen2_5_vl", "qwen2_5_vl_text", "qwen3", "qwen3_moe"),
        *("qwen3_vl_text", "qwen3_vl_moe_text", "gemma", "gemma2", "gemma3", "gemma3_text", "glm4", "glm4_moe"),
        *("deepseek_v2", "deepseek_v3", "minicpm3", "gpt_oss"),
    }
)
GEMMA3: Final = frozenset({"gemma3", "gemma3_text"})


def turned(layer: Layer, choices: Choices) -> Turning:
    """The block by transformers' rules; a key that a kind needs and lacks ends with KeyError."""
    if layer.model_type not in MODELS:
        raise NoSuchModel(f"lmdeploy's PyTorch engine has no {layer.model_type}")
    if layer.model_type in GEMMA3:
        raise NoSuchModel("what lmdeploy's Gemma 3 does under transformers 5 was not traced")
    kind = layer.keys.text("kind", "rope_type", default="default")
    rule, build = _KINDS.get(kind, (kind, None))
    if build is None:
        raise StackStops(f"KeyError: {kind!r}")
    base = layer.keys.number("base", "rope_theta", default=10000.0)
    dim = int(width(layer.block.turned, "the width of a head") * fraction(layer))
    original = layer.original(default=layer.longest) if kind in ORIGINAL_NEEDED else None
    over = layer.over(dim, base=base, original=original)
    return Turning(rule, base, dim, build(Rope(layer, over, choices)), temperature=layer.block.temperature)


def _default(rope: Rope) -> Schedule:
    rope.layer.keys.take("sections", "mrope_section")
    return scaling.unscaled(rope.over)


def _linear(rope: Rope) -> Schedule:
    return scaling.linear(rope.over, rope.layer.keys)


def _dynamic(rope: Rope) -> Schedule:
    if not rope.layer.keys.has("factor"):
        raise StackStops("KeyError: 'factor'")
    rope.layer.keys.lose("alpha", "not read")
    return scaling.dynamic(rope.over, rope.layer.keys, rope.choices)


def _yarn(rope: Rope) -> Schedule:
    if not rope.layer.keys.has("factor"):
        raise StackStops("KeyError: 'factor'")
    return scaling.yarn(rope.over, rope.layer.keys, rope.choices)


def _llama3(rope: Rope) -> Schedule:
    return scaling.llama3(rope.over, rope.layer.keys)


def _longrope(rope: Rope) -> Schedule:
    rope.layer.keys.lose("factor", "the magnitude comes from the two lengths")
    rope.layer.keys.lose("attention_factor", "the magnitude comes from the two lengths")
    return scaling.longrope(rope.over, rope.layer.keys, rope.choices)


ORIGINAL_NEEDED: Final = frozenset({"llama3", "yarn", "longrope", "su"})
_KINDS: Final[Mapping[str, tuple[str, Callable[[Rope], Schedule]]]] = {
    "default": ("default", _default),
    "mrope": ("default", _default),
    "fope": ("default", _default),
    "linear": ("linear", _linear),
    "dynamic": ("dynamic", _dynamic),
    "yarn": ("yarn", _yarn),
    "llama3": ("llama3", _llama3),
    "longrope": ("longrope", _longrope),
    "su": ("longrope", _longrope),
}
