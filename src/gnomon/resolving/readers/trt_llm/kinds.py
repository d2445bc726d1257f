"""What TensorRT-LLM makes of one rotary block: `RopeParams.from_config`, then `RopeEmbeddingUtils`.

The block comes from transformers' classes, whose keys are laid over the config; models with code of their own for it
(Gemma 3 and 4, gpt-oss) are told apart here.
"""

from collections.abc import Callable, Mapping
from typing import Final

from gnomon.resolving.readers.serving.kinds import Rope, linear_if_given, llama3_with_defaults
from gnomon.resolving.readers.serving.layers import Layer, Turning, fraction
from gnomon.resolving.readers.serving.numbers import width
from gnomon.resolving.readers.serving.spelling import spelled
from gnomon.resolving.readers.serving.yarn import DEEPSEEK
from gnomon.resolving.rules import formulas, scaling
from gnomon.resolving.rules.angles import Always, Angles, Schedule
from gnomon.resolving.rules.choices import Choices, known
from gnomon.resolving.rules.longrope import longrope
from gnomon.resolving.rules.yarn import softmax_multiplier, yarn
from gnomon.resolving.stopping import StackStops

ORIGINAL_LENGTH: Final = 1024.0
GEMMA3: Final = frozenset({"gemma3", "gemma3_text"})
UNDER_4: Final = "with transformers 4 installed the scaling of these layers is applied"
FOR_CAP: Final = "factor counts for the cap alone; alpha, 1 by default, stretches the base"
GEMMA4: Final = frozenset({"gemma4", "gemma4_text"})


def turned(layer: Layer, choices: Choices) -> Turning:
    """The block by the model's own code where it has some, else as `RopeParams` holds it."""
    base = layer.keys.number("base", "rope_theta", default=10000.0)
    if layer.model_type in GEMMA4:
        return _gemma4(layer, base)
    kind = kind_of(layer, choices)
    rule, build = known(_KINDS, kind, choices, f"ValueError: unsupported rotary scaling type {kind}")
    dim = _width(layer)
    original = layer.original(default=ORIGINAL_LENGTH) if kind in ORIGINAL_NEEDED else None
    schedule = build(Rope(layer, layer.over(dim, base=base, original=original), choices))
    softmax = softmax_multiplier(layer.keys) if layer.model_type in DEEPSEEK else None
    notes = (UNDER_4,) if layer.model_type in GEMMA3 and layer.block.kind == "full_attention" else ()
    notes = (FOR_CAP,) if kind == "dynamic" and layer.keys.has("factor") else notes
    return Turning(rule, base, dim, schedule, softmax, layer.block.temperature, notes=notes)


def kind_of(layer: Layer, choices: Choices) -> str:
    """By `kind_key`; none in blocks by layer type, whose kind is looked for one level too high."""
    if layer.model_type == "gpt_oss":
        return "yarn"
    if layer.model_type in GEMMA3:
        for name in ("factor", "rope_type"):
            layer.keys.lose(name, "looked for beside the blocks of the layer types")
        return "default"
    old = spelled(layer)[1]
    if old is None or choices.kind_key != "type":
        return str(layer.keys.take("kind", "rope_type", default="default")).lower()
    layer.file.note("kind", old, f"{layer.block.origins['rope_type'].rpartition('.')[0]}.type")
    return str(old).lower()


def _width(layer: Layer) -> int:
    """A count of columns; `rotary_emb_base`, which is a base, is taken for one too."""
    given = layer.text.whole("rotated width", "rotary_dim", "rotary_emb_base", "qk_rope_head_dim")
    if given:
        return int(given)
    share = layer.text.number("rotated share", "rotary_pct") or fraction(layer)
    turning = width(layer.block.turned, "the width of a head")
    return int(turning * share) if share else turning


def _gemma4(layer: Layer, base: float) -> Turning:
    dim = width(layer.block.turned, "the width of a head")
    over = layer.over(dim, base=base)
    if layer.block.kind != "full_attention":
        return Turning("default", base, dim, scaling.unscaled(over))
    layer.keys.lose("factor", "proportional frequencies are not divided")
    inverse = formulas.proportional(base, dim, fraction(layer, default=0.25))
    return Turning("proportional", base, dim, Always(Angles(inverse)))


def _plain(rope: Rope) -> Schedule:
    """A `factor` beside a kind without scaling multiplies all frequencies."""
    rope.layer.keys.take("sections", "mrope_section")
    if rope.layer.model_type in GEMMA3:
        return scaling.unscaled(rope.over)
    return Always(Angles(rope.over.plain * rope.layer.keys.number("factor", "factor", default=1.0)))


def _dynamic(rope: Rope) -> Schedule:
    return scaling.dynamic(rope.over, rope.layer.keys, rope.choices)


def _yarn(rope: Rope) -> Schedule:
    layer, choices, keys = rope.layer, rope.choices, rope.layer.keys
    if layer.model_type == "gpt_oss":
        for name in ("beta_fast", "beta_slow"):
            if not keys.has(name):
                raise StackStops(f"KeyError: {name!r}")
        for name in ("mscale", "mscale_all_dim"):
            keys.lose(name, "gpt-oss has 1 over 0")
        held = {name: value for name, value in keys.values.items() if name not in ("mscale", "mscale_all_dim")}
        keys = layer.file.laid(held, layer.block.origins)
    if not keys.has("factor"):
        keys = layer.file.laid({**keys.values, "factor": 1.0}, layer.block.origins)
    keys.lose("attention_factor", "not read")
    return yarn(rope.over, keys, choices)


def _longrope(rope: Rope) -> Schedule:
    return longrope(rope.over, rope.layer.keys, rope.choices)


ORIGINAL_NEEDED: Final = frozenset({"llama3", "yarn", "longrope"})
_KINDS: Final[Mapping[str, tuple[str, Callable[[Rope], Schedule]]]] = {
    "default": ("default", _plain),
    "none": ("default", _plain),
    "mrope": ("default", _plain),
    "linear": ("linear", linear_if_given),
    "dynamic": ("dynamic", _dynamic),
    "llama3": ("llama3", llama3_with_defaults),
    "yarn": ("yarn", _yarn),
    "longrope": ("longrope", _longrope),
}
