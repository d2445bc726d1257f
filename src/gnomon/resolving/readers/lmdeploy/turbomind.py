"""lmdeploy's TurboMind engine: `parse_rope_param`, `copy_rope_config` and the C++ that reads what they fill in."""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from gnomon.resolving.readers.serving.kinds import Rope, linear
from gnomon.resolving.readers.serving.layers import Layer, Turning, fraction
from gnomon.resolving.readers.serving.numbers import width
from gnomon.resolving.rules import formulas, scaling
from gnomon.resolving.rules.angles import Always, Angles, Schedule
from gnomon.resolving.rules.choices import Choices, known
from gnomon.resolving.rules.scaling import ORIGINAL
from gnomon.resolving.rules.yarn import yarn
from gnomon.resolving.stopping import NoSuchModel, StackStops

#: model types that its source models cover
MODELS: Final = frozenset(
    {
        *("llama", "mistral", "internlm2", "internlm3", "mixtral", "gpt_oss", "glm4_moe_lite"),
        *("qwen2", "qwen2_moe", "qwen2_vl", "qwen2_vl_text", "qwen2_5_vl", "qwen2_5_vl_text"),
        *("qwen3", "qwen3_moe", "qwen3_vl_text", "qwen3_vl_moe_text", "qwen3_5_text"),
    }
)
PERMUTED: Final = "rows of q and k are put from half into interleaved order when weights are loaded"


def turned(layer: Layer, choices: Choices) -> Turning:
    """The block as the parser reads it; the kernel turns neighbouring columns, of rows that were put in that order."""
    if layer.model_type not in MODELS:
        raise NoSuchModel(f"lmdeploy's TurboMind engine has no {layer.model_type}")
    if layer.block.layout != "half":
        raise NoSuchModel("what TurboMind does with rows in interleaved order was not traced")
    kind = layer.keys.text("kind", "rope_type", default="default")
    if layer.keys.take("sections", "mrope_section") is not None:
        kind = "mrope"
    rule, build = known(_KINDS, kind, choices, f"RuntimeError: unsupported rope type {kind}")
    base = layer.keys.number("base", "rope_theta", default=10000.0)
    dim = int(width(layer.block.turned, "the width of a head") * fraction(layer))
    original = layer.original(default=layer.longest) if kind in ORIGINAL_NEEDED else None
    schedule = build(Rope(layer, layer.over(dim, base=base, original=original), choices))
    return Turning(rule, base, dim, schedule, layout="interleaved", permuted=PERMUTED)


def _default(rope: Rope) -> Schedule:
    return scaling.unscaled(rope.over)


def _dynamic(rope: Rope) -> Schedule:
    rope.layer.keys.lose("alpha", "not read")
    if not rope.layer.keys.has("factor"):
        return scaling.unscaled(rope.over)
    held = {name: value for name, value in rope.layer.keys.values.items() if name != "alpha"}
    return scaling.dynamic(rope.over, rope.layer.file.laid(held, rope.layer.block.origins), rope.choices)


def _llama3(rope: Rope) -> Schedule:
    """Both frequency factors are 1 by default; where they are equal the blend divides by zero."""
    keys = rope.layer.keys
    low = keys.number("low_freq_factor", "low_freq_factor", default=1.0)
    high = keys.number("high_freq_factor", "high_freq_factor", default=1.0)
    if low == high:
        return Always(Angles(rope.over.plain * math.nan))
    return scaling.llama3(rope.over, keys, low=1.0, high=1.0)


def _yarn(rope: Rope) -> Schedule:
    """The factor is the ratio of the lengths wherever an original length is given, the ramp lies over the longest."""
    layer, keys, over = rope.layer, rope.layer.keys, rope.over
    stated = keys.number("factor of the magnitude", "factor", default=0.0)
    if stated <= 0 or over.longest is None:
        raise StackStops("ValueError: yarn lacks a factor above zero, or max_position_embeddings")
    given = layer.block.origins.get(ORIGINAL) != layer.standard.longest.key
    within = over if given else replace(over, original=None)
    return yarn(within, keys, rope.choices, magnitude=_magnitude(rope, stated))


def _magnitude(rope: Rope, factor: float) -> float:
    """`attention_factor`, else the ratio of the pair where both are there, else 0.1 ln(factor) + 1, of the file's."""
    keys = rope.layer.keys
    given = keys.number("attention_factor", "attention_factor")
    if given is not None:
        return float(given)
    above, below = keys.number("mscale", "mscale"), keys.number("mscale_all_dim", "mscale_all_dim")
    if above is None or below is None:
        return 0.1 * math.log(factor) + 1
    return formulas.magnitude(factor, above) / formulas.magnitude(factor, below)


ORIGINAL_NEEDED: Final = frozenset({"llama3", "yarn"})
_KINDS: Final[Mapping[str, tuple[str, Callable[[Rope], Schedule]]]] = {
    "default": ("default", _default),
    "mrope": ("default", _default),
    "linear": ("linear", linear),
    "dynamic": ("dynamic", _dynamic),
    "llama3": ("llama3", _llama3),
    "yarn": ("yarn", _yarn),
}
