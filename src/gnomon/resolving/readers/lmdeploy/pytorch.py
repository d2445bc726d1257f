"""lmdeploy's PyTorch engine: `build_rotary_params` and the modules of its default backend."""

from collections.abc import Callable, Mapping
from typing import Final

from gnomon.resolving.readers.serving.kinds import Rope, linear, llama3, plain_in_sections
from gnomon.resolving.readers.serving.layers import Layer, Turning, fraction
from gnomon.resolving.readers.serving.numbers import width
from gnomon.resolving.rules import scaling
from gnomon.resolving.rules.angles import Schedule
from gnomon.resolving.rules.choices import Choices, known
from gnomon.resolving.rules.longrope import longrope
from gnomon.resolving.rules.yarn import yarn
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
    rule, build = known(_KINDS, kind, choices, f"KeyError: {kind!r}")
    base = layer.keys.number("base", "rope_theta", default=10000.0)
    dim = int(width(layer.block.turned, "the width of a head") * fraction(layer))
    original = layer.original(default=layer.longest) if kind in ORIGINAL_NEEDED else None
    over = layer.over(dim, base=base, original=original)
    return Turning(rule, base, dim, build(Rope(layer, over, choices)), temperature=layer.block.temperature)


def _dynamic(rope: Rope) -> Schedule:
    if not rope.layer.keys.has("factor"):
        raise StackStops("KeyError: 'factor'")
    rope.layer.keys.lose("alpha", "not read")
    return scaling.dynamic(rope.over, rope.layer.keys, rope.choices)


def _yarn(rope: Rope) -> Schedule:
    if not rope.layer.keys.has("factor"):
        raise StackStops("KeyError: 'factor'")
    return yarn(rope.over, rope.layer.keys, rope.choices)


def _longrope(rope: Rope) -> Schedule:
    rope.layer.keys.lose("factor", "the magnitude comes from the two lengths")
    rope.layer.keys.lose("attention_factor", "the magnitude comes from the two lengths")
    return longrope(rope.over, rope.layer.keys, rope.choices)


ORIGINAL_NEEDED: Final = frozenset({"llama3", "yarn", "longrope", "su"})
_KINDS: Final[Mapping[str, tuple[str, Callable[[Rope], Schedule]]]] = {
    "default": ("default", plain_in_sections),
    "mrope": ("default", plain_in_sections),
    "fope": ("default", plain_in_sections),
    "linear": ("linear", linear),
    "dynamic": ("dynamic", _dynamic),
    "yarn": ("yarn", _yarn),
    "llama3": ("llama3", llama3),
    "longrope": ("longrope", _longrope),
    "su": ("longrope", _longrope),
}
