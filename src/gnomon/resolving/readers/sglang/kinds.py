"""What SGLang makes of one rotary block: `get_rope` and the classes that it chooses from."""

from collections.abc import Callable, Mapping
from typing import Final

from gnomon.resolving.readers.serving.kinds import (
    Rope,
    alpha_first,
    linear_if_given,
    llama3_with_defaults,
    plain_in_sections,
    proportional,
)
from gnomon.resolving.readers.serving.layers import Layer, Turning, counted_width, fraction
from gnomon.resolving.readers.serving.longrope import with_magnitudes
from gnomon.resolving.readers.serving.numbers import width
from gnomon.resolving.readers.serving.yarn import (
    DEEPSEEK,
    attn_factor,
    deepseek,
    times,
    with_extrapolation,
)
from gnomon.resolving.rules import scaling
from gnomon.resolving.rules.angles import Schedule, Temperature
from gnomon.resolving.rules.choices import Choices, known
from gnomon.resolving.rules.scaling import ORIGINAL
from gnomon.resolving.rules.yarn import softmax_multiplier, yarn
from gnomon.resolving.stopping import StackStops

MINISTRAL_LENGTH: Final = 16384.0


def turned(layer: Layer, choices: Choices) -> Turning:
    """The block as `get_rope` reads it; a key that it lacks gets a default, with a warning."""
    kind = layer.keys.text("kind", "rope_type", default="default")
    latent = layer.model_type in DEEPSEEK and kind != "default"
    if latent:
        kind = "deepseek_yarn"
    there = _KINDS if choices.source == "transformers 5" else _BEFORE_5
    rule, build = known(there, kind, choices, f"ValueError: unknown RoPE scaling type {kind}")
    base = layer.keys.number("base", "rope_theta", default=10000.0)
    dim = _width(layer, kind)
    original = layer.original(default=layer.longest) if kind in ORIGINAL_NEEDED else None
    rope = Rope(layer, layer.over(dim, base=base, original=original), choices)
    softmax = softmax_multiplier(layer.keys) if latent else None
    return Turning(rule, base, dim, build(rope), softmax=softmax, temperature=_temperature(layer))


def _width(layer: Layer, kind: str) -> int:
    counted = counted_width(layer)
    if counted is not None:
        return counted
    turning = width(layer.block.turned, "the width of a head")
    if kind == "proportional":
        return turning
    share = fraction(layer)
    return int(turning * share) if share < 1 else turning


def _temperature(layer: Layer) -> Temperature | None:
    """Ministral's length is looked for beside the block, and is 16384 where it is not there."""
    if layer.model_type != "ministral3":
        return layer.block.temperature
    beta = layer.keys.number("temperature", "llama_4_scaling_beta")
    length = layer.text.number("length of the temperature", ORIGINAL, default=MINISTRAL_LENGTH)
    if beta is not None and not length > 0:
        raise StackStops(f"{ORIGINAL} is not above zero")
    return None if beta is None else Temperature(beta, length)


def _dynamic(rope: Rope) -> Schedule:
    keys = rope.layer.keys
    if (stretched := alpha_first(rope)) is not None:
        return stretched
    if not keys.has("factor"):
        return scaling.unscaled(rope.over)
    return scaling.dynamic(rope.over, keys, rope.choices)


def _yarn(rope: Rope) -> Schedule:
    keys = rope.layer.keys
    if not keys.has("factor"):
        keys = rope.layer.file.laid({**keys.values, "factor": 1.0}, rope.layer.block.origins)
    schedule = yarn(rope.over, keys, rope.choices)
    if rope.choices.yarn_magnitude != "factor":
        schedule = times(schedule, attn_factor(rope.layer))
    keys.lose("attention_factor", "not read; attn_factor multiplies")
    return with_extrapolation(schedule, rope.over, rope.layer)


def _deepseek(rope: Rope) -> Schedule:
    return deepseek(rope.layer, rope.over, rope.choices)


def _longrope(rope: Rope) -> Schedule:
    return with_magnitudes(rope.layer, rope.over, rope.choices)


ORIGINAL_NEEDED: Final = frozenset({"yarn", "deepseek_yarn", "llama3", "longrope"})
_KINDS: Final[Mapping[str, tuple[str, Callable[[Rope], Schedule]]]] = {
    "default": ("default", plain_in_sections),
    "linear": ("linear", linear_if_given),
    "llama3": ("llama3", llama3_with_defaults),
    "dynamic": ("dynamic", _dynamic),
    "yarn": ("yarn", _yarn),
    "deepseek_yarn": ("yarn", _deepseek),
    "longrope": ("longrope", _longrope),
    "proportional": ("proportional", proportional),
}
_BEFORE_5: Final = {name: rule for name, rule in _KINDS.items() if name != "proportional"}
