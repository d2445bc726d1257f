"""What vLLM makes of one rotary block: `get_rope` and the classes that it chooses from."""

import math
from collections.abc import Callable, Mapping
from typing import Final

import numpy as np

from gnomon.resolving.readers.serving.kinds import Rope, alpha_first, linear, llama3, proportional
from gnomon.resolving.readers.serving.layers import Layer, Turning, counted_width
from gnomon.resolving.readers.serving.longrope import with_magnitudes
from gnomon.resolving.readers.serving.numbers import width
from gnomon.resolving.readers.serving.yarn import DEEPSEEK, attn_factor, deepseek, with_extrapolation
from gnomon.resolving.readers.vllm.names import base_of, kind_of, share_of
from gnomon.resolving.rules import formulas, scaling
from gnomon.resolving.rules.angles import Always, Angles, Growing, Schedule, Temperature
from gnomon.resolving.rules.choices import Choices, known
from gnomon.resolving.rules.scaling import Scaled, by_alpha, stretched
from gnomon.resolving.rules.yarn import softmax_multiplier, yarn
from gnomon.resolving.stopping import StackStops

TELECHAT: Final = 0.07  #: TeleChat 3: 0.07 ln(s) + 1 on cos and sin
NOMIC: Final = "nomic_bert"


def turned(layer: Layer, choices: Choices) -> Turning:
    """The block as `get_rope` reads it."""
    kind = kind_of(layer, choices)
    base = base_of(layer)
    dim = _width(layer, kind)
    original = layer.original() if kind in ORIGINAL_NEEDED else None
    if original is None and kind in ORIGINAL_NEEDED:
        raise StackStops("KeyError: 'original_max_position_embeddings'")
    rope = Rope(layer, layer.over(dim, base=base, original=original), choices)
    there = _KINDS if choices.source == "transformers 5" else _BEFORE_5
    rule, build = known(there, kind, choices, f"ValueError: unknown RoPE scaling type {kind}")
    return Turning(rule, base, dim, build(rope), softmax=_softmax(layer, kind), temperature=_temperature(layer))


def _softmax(layer: Layer, kind: str) -> float | None:
    if layer.model_type not in DEEPSEEK:
        return None
    return softmax_multiplier(layer.keys) if kind == "deepseek_yarn" else 1.0


def _width(layer: Layer, kind: str) -> int:
    counted = counted_width(layer)
    if counted is not None:
        return counted
    turning = width(layer.block.turned, "the width of a head")
    if kind == "proportional":
        return turning
    given = layer.keys.whole("rotated width", "rope_dim")
    if given is not None:
        return int(given)
    share = share_of(layer)
    if not 0 < share <= 1:
        raise StackStops(f"ValueError: partial_rotary_factor {share:g} is not above 0 and up to 1")
    return int(turning * share)


def _temperature(layer: Layer) -> Temperature | None:
    """Ministral's: only from a mapping `llama_4_scaling` at the top; the keys inside the block are not looked at."""
    if layer.model_type != "ministral3":
        return layer.block.temperature
    held = layer.text.part("llama_4_scaling")
    beta, length = held.number("temperature", "beta"), held.number("temperature", scaling.ORIGINAL)
    if beta is None or length is None:
        layer.keys.lose("llama_4_scaling_beta", "looked for in a mapping llama_4_scaling beside the block only")
        return None
    if length <= 0:
        raise StackStops("llama_4_scaling has no length above zero")
    return Temperature(beta, length)


def _default(rope: Rope) -> Schedule:
    rope.layer.keys.take("sections", "mrope_section", "xdrope_section")
    return scaling.unscaled(rope.over)


def _ntk(rope: Rope) -> Schedule:
    """Base b s and all frequencies over s^(2 / d); with `mixed_b`, over exp(a m^b), a = ln(s) / (d / 2)^b."""
    keys, over = rope.layer.keys, rope.over
    factor = keys.number("factor", "factor")
    if not factor or factor < 0:
        raise StackStops("ntk lacks a factor above zero")
    mixed = keys.number("mixed_b", "mixed_b")
    if mixed is None:
        return Always(Angles(formulas.plain(over.base * factor, over.dim) / factor ** (2 / over.dim)))
    order = np.arange(1, over.dim // 2 + 1, dtype=np.float64)
    return Always(Angles(over.plain / np.exp(math.log(factor) / (over.dim / 2) ** mixed * order**mixed)))


def _dynamic(rope: Rope) -> Schedule:
    layer, over, keys = rope.layer, rope.over, rope.layer.keys
    if (stretched_by_alpha := alpha_first(rope)) is not None:
        return stretched_by_alpha
    if rope.choices.dynamic == "constant":
        return scaling.dynamic(over, keys, rope.choices)
    factor = keys.number("factor", "factor")
    if factor is None:
        raise StackStops("ValueError: dynamic scaling has neither alpha nor factor")
    return _by_rows(layer, over, factor)


def _xdrope(rope: Rope) -> Schedule:
    """HunYuan's with sections for several coordinates."""
    for name in ("alpha", "xdrope_section"):
        if not rope.layer.keys.has(name):
            raise StackStops(f"KeyError: {name!r}")
    rope.layer.keys.take("sections", "xdrope_section")
    return by_alpha(rope.over, rope.layer.keys.number("alpha", "alpha", default=1.0))


def _by_rows(layer: Layer, over: Scaled, factor: float) -> Schedule:
    """base (s P / T - (s - 1))^(d / (d - 2)), P rows of the table, T `max_trained_positions`, by default P.

    P is max_position_embeddings, so that the base stays; in Nomic's encoder it is the length of the server, and below
    the trained length the power of a negative number makes the table NaN.
    """
    rows = over.longest or 2048.0
    if layer.model_type == NOMIC:
        trained = layer.text.number("trained length", "max_trained_positions", default=rows)
        words = f"base grows with the served length above {trained:g}; below it the table is not a number"
        return Growing(lambda served: stretched(over, factor * served / trained - (factor - 1)), 0.0, "served", words)
    trained = layer.keys.number("trained length", "max_trained_positions", default=rows)
    if trained <= 0:
        raise StackStops("max_trained_positions is not above zero")
    return Always(stretched(over, factor * rows / trained - (factor - 1)))


def _yarn(rope: Rope) -> Schedule:
    layer, choices, keys = rope.layer, rope.choices, rope.layer.keys
    schedule = yarn(rope.over, keys, choices)
    if choices.yarn_magnitude != "factor":
        keys.lose("attn_factor", "no longer read")
        keys.lose("extrapolation_factor", "no longer read")
        return schedule
    if keys.take("apply_yarn_scaling", "apply_yarn_scaling", default=True) is False and isinstance(schedule, Always):
        schedule = Always(Angles(schedule.angles.inverse, attn_factor(layer)))
    return with_extrapolation(schedule, rope.over, layer)


def _telechat(rope: Rope) -> Schedule:
    schedule = yarn(rope.over, rope.layer.keys, rope.choices)
    factor = rope.layer.keys.number("factor", "factor", default=1.0)
    if not isinstance(schedule, Always) or factor <= 0:
        raise StackStops("telechat3-yarn lacks a factor above zero")
    return Always(Angles(schedule.angles.inverse, TELECHAT * math.log(factor) + 1))


def _deepseek(rope: Rope) -> Schedule:
    if not rope.layer.keys.has("factor"):
        raise StackStops("KeyError: 'factor'")
    return deepseek(rope.layer, rope.over, rope.choices)


def _longrope(rope: Rope) -> Schedule:
    if rope.layer.block.layout == "interleaved":
        raise StackStops("ValueError: LongRoPE is there for the half layout only")
    return with_magnitudes(rope.layer, rope.over, rope.choices)


ORIGINAL_NEEDED: Final = frozenset(
    {"yarn", "telechat3-yarn", "llama3", "longrope", "deepseek_yarn", "deepseek_llama_scaling"}
)
_KINDS: Final[Mapping[str, tuple[str, Callable[[Rope], Schedule]]]] = {
    "default": ("default", _default),
    "linear": ("linear", linear),
    "llama3": ("llama3", llama3),
    "ntk": ("ntk", _ntk),
    "dynamic": ("dynamic", _dynamic),
    "xdrope": ("dynamic", _xdrope),
    "yarn": ("yarn", _yarn),
    "telechat3-yarn": ("yarn", _telechat),
    "deepseek_yarn": ("yarn", _deepseek),
    "deepseek_llama_scaling": ("yarn", _deepseek),
    "longrope": ("longrope", _longrope),
    "proportional": ("proportional", proportional),
}
_BEFORE_5: Final = {name: rule for name, rule in _KINDS.items() if name != "proportional"}
