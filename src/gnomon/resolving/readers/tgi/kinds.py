"""What TGI makes of `rope_scaling`: `PositionRotaryEmbedding.static`, by the raw mapping that transformers 4 leaves."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from gnomon.resolving.readers.serving.layers import Layer, Turning, counted_width, fraction
from gnomon.resolving.readers.serving.numbers import width
from gnomon.resolving.readers.serving.yarn import DEEPSEEK
from gnomon.resolving.rules import scaling
from gnomon.resolving.rules.angles import Angles, Schedule, Switched
from gnomon.resolving.rules.choices import Choices, known
from gnomon.resolving.rules.keys import Keys
from gnomon.resolving.rules.longrope import longrope
from gnomon.resolving.rules.scaling import ORIGINAL, Scaled
from gnomon.resolving.rules.yarn import softmax_multiplier, yarn
from gnomon.resolving.stopping import NoSuchModel, StackStops

PARTIAL: Final = frozenset({"gpt_neox", "phi"})  #: model types whose code turns a part of each head
PHI3_LENGTH: Final = 4096.0  #: the class's own
LOCAL: Final = "sliding_attention"


def turned(layer: Layer, choices: Choices) -> Turning:
    """The mapping as it stands in the file; layers that slide (Gemma 3) turn plainly."""
    block = layer.text.part("rope_scaling") if layer.block.kind != LOCAL else Keys({})
    kind = block.text("kind", *choices.kind_names, default="default" if not block.values else None)
    kind = "longrope" if layer.model_type == "phi3" and kind in ("su", "yarn") else kind
    if layer.model_type == "phi3" and fraction(layer) != 1:
        raise NoSuchModel("how TGI turns a part of Phi-3's heads was not traced")
    rule, build = known(_KINDS, kind, choices, f"NotImplementedError: rope scaling type {kind}")
    base = layer.keys.number("base", "rope_theta", default=10000.0)
    dim = counted_width(layer) or int(width(layer.block.turned, "the width of a head") * _share(layer))
    over = layer.over(dim, base=base)
    softmax = softmax_multiplier(block) if layer.model_type in DEEPSEEK else None
    return Turning(rule, base, dim, build(layer, over, block, choices), softmax=softmax)


def _share(layer: Layer) -> float:
    return fraction(layer) if layer.model_type in PARTIAL else 1.0


def _default(layer: Layer, over: Scaled, block: Keys, choices: Choices) -> Schedule:
    return scaling.unscaled(over)


def _linear(layer: Layer, over: Scaled, block: Keys, choices: Choices) -> Schedule:
    block.lose("factor", "linear scaling is passed over")
    return scaling.unscaled(over)


def _mrope(layer: Layer, over: Scaled, block: Keys, choices: Choices) -> Schedule:
    if not block.has("mrope_section"):
        raise StackStops("KeyError: 'mrope_section'")
    block.take("sections", "mrope_section")
    return scaling.unscaled(over)


def _dynamic(layer: Layer, over: Scaled, block: Keys, choices: Choices) -> Schedule:
    if not block.has("factor"):
        raise StackStops("KeyError: 'factor'")
    return scaling.dynamic(over, _needed(layer, block), choices)


def _llama3(layer: Layer, over: Scaled, block: Keys, choices: Choices) -> Schedule:
    return scaling.llama3(replace(over, original=block.number("original length", ORIGINAL)), block)


def _yarn(layer: Layer, over: Scaled, block: Keys, choices: Choices) -> Schedule:
    """The betas are always 32 and 1."""
    original = block.number("original length", ORIGINAL)
    if original is None or not block.has("factor"):
        raise StackStops(f"KeyError: {ORIGINAL!r} or 'factor'")
    for name in ("beta_fast", "beta_slow"):
        block.lose(name, "always 32 and 1")
    block.lose("attention_factor", "not read")
    return yarn(replace(over, original=original), _needed(layer, block), choices)


def _longrope(layer: Layer, over: Scaled, block: Keys, choices: Choices) -> Schedule:
    """The original length stands beside the mapping; `short_mscale` and `long_mscale` multiply angles, not cos."""
    original = layer.text.number("original length", ORIGINAL)
    if original is None and layer.model_type == "phi3":
        original = PHI3_LENGTH
    if original is None:
        raise StackStops(f"AttributeError: the config has no {ORIGINAL} beside rope_scaling")
    block.lose(ORIGINAL, "looked for beside rope_scaling")
    schedule = longrope(replace(over, original=original), block, choices)
    short, long = (block.number(name, name) for name in ("short_mscale", "long_mscale"))
    if short is None or long is None or not isinstance(schedule, Switched):
        return schedule
    return replace(schedule, short=Angles(schedule.short.inverse * short), long=Angles(schedule.long.inverse * long))


def _needed(layer: Layer, block: Keys) -> Keys:
    """Without the keys that other stacks read in these kinds."""
    others = ("beta_fast", "beta_slow", "alpha", "attention_factor", ORIGINAL)
    held = {name: value for name, value in block.values.items() if name not in others}
    return block.laid(held, {name: f"{layer.standard.part}rope_scaling.{name}" for name in held})


Build = Callable[[Layer, Scaled, Keys, Choices], Schedule]
_KINDS: Final[Mapping[str, tuple[str, Build]]] = {
    "default": ("default", _default),
    "linear": ("linear", _linear),
    "mrope": ("default", _mrope),
    "dynamic": ("dynamic", _dynamic),
    "llama3": ("llama3", _llama3),
    "yarn": ("yarn", _yarn),
    "longrope": ("longrope", _longrope),
    "su": ("longrope", _longrope),
}
