"""The angles that a standardised block makes: `ROPE_INIT_FUNCTIONS` and the forward of rotary modules."""

from collections.abc import Mapping
from typing import Any, Final

from gnomon.adapters.families.config_reader import Found
from gnomon.resolving.readers.serving.layers import Layer, Turning
from gnomon.resolving.readers.serving.numbers import width
from gnomon.resolving.readers.transformers5.classes import alpha_rules
from gnomon.resolving.readers.transformers5.gathering import ORIGINAL, PARTIAL
from gnomon.resolving.readers.transformers5.standard import Block, Standard
from gnomon.resolving.rules import formulas, scaling
from gnomon.resolving.rules.angles import Always, Angles, Schedule
from gnomon.resolving.rules.choices import Choices, unknown
from gnomon.resolving.rules.keys import Keys
from gnomon.resolving.rules.longrope import longrope
from gnomon.resolving.rules.numbers import SIGNED, required
from gnomon.resolving.rules.yarn import yarn
from gnomon.resolving.stopping import StackStops

#: keys of a block without which its validation ends with KeyError; null is a value there
REQUIRED: Final[Mapping[str, tuple[str, ...]]] = {
    "linear": ("factor",),
    "dynamic": ("factor",),
    "yarn": ("factor",),
    "longrope": ("short_factor", "long_factor"),
    "llama3": ("factor", "low_freq_factor", "high_freq_factor"),
}


def turned(layer: Layer, choices: Choices) -> Turning:
    """What the rotary module of one kind of layer computes; raises StackStops where building it fails."""
    block = layer.block
    schedule = schedule_of(block, layer.standard, layer.file, choices)
    dim = width(block.rotary_dim, "the rotated width")
    layer.file.note("rotated width", dim, block.rotary_dim.key)
    rule = rule_of(block, layer.standard)
    return Turning(rule, float(block.base), dim, schedule, temperature=block.temperature)


def rule_of(block: Block, standard: Standard) -> str:
    """The kind of scaling; HunYuan's class calls "dynamic" with an `alpha` "ntk", since no length comes into it."""
    return "ntk" if alpha_rules(standard.model_type, block.values) else str(block.rule)


def schedule_of(block: Block, standard: Standard, file: Keys, choices: Choices) -> Schedule:
    """The angles of a block that turns."""
    values = _without_falsy(block.values)
    keys = file.laid(values, {name: key for name, key in block.origins.items() if name in values})
    rule = rule_of(block, standard)
    keys.note("kind", rule, "rope_type")
    missing = [name for name in REQUIRED.get(rule, ()) if name not in values]
    if missing:
        raise StackStops(f"KeyError: {rule} lacks {', '.join(missing)}")
    over = _over(block, standard, keys, choices)
    if rule in ("yarn", "llama3") and over.dim % 2:
        raise StackStops(f"{rule} over an odd width of {over.dim}")
    match rule:
        case "default":
            return scaling.unscaled(over)
        case "linear":
            return scaling.linear(over, keys)
        case "llama3":
            return scaling.llama3(over, keys)
        case "yarn":
            return yarn(over, keys, choices)
        case "longrope":
            return longrope(over, keys, choices)
        case "dynamic":
            return scaling.dynamic(over, keys, choices)
        case "proportional":
            return _proportional(over, keys)
        case "ntk" if alpha_rules(standard.model_type, block.values):
            return scaling.by_alpha(over, keys.number("alpha", "alpha"))
    unknown(choices, f"KeyError: {block.rule!r} is no kind of scaling that transformers knows")
    return scaling.unscaled(over)


def _over(block: Block, standard: Standard, keys: Keys, choices: Choices) -> scaling.Scaled:
    """What the block is laid over; version 4 does without an original length in YaRN, and first never looked at it."""
    rule = rule_of(block, standard)
    base = keys.number("base", "rope_theta")
    if base is None:
        raise StackStops("rope_theta is null, so no frequency can be computed")
    longest, original = longest_length(standard.longest), None
    if rule == "yarn" and (choices.yarn_ramp, choices.yarn_factor) == ("maximum", "factor"):
        keys.lose(ORIGINAL, "turns are counted in max_position_embeddings")
    elif rule in ("yarn", "longrope", "llama3"):
        original = keys.number("original length", ORIGINAL)
        if original is None and (rule != "yarn" or choices.source == "transformers 5"):
            raise StackStops(f"{block.origins.get(ORIGINAL, ORIGINAL)} is null")
    if longest is not None and rule in ("dynamic", "yarn", "longrope"):
        keys.laid({}, {}).note("longest length", longest, standard.longest.key)
    return scaling.Scaled(base, block.rotary_dim.value, longest, original)


def _proportional(over: scaling.Scaled, keys: Keys) -> Schedule:
    share = keys.number("share of pairs", PARTIAL, default=1.0)
    factor = keys.number("factor", "factor", default=1.0)
    return Always(Angles(formulas.proportional(over.base, over.dim, share, factor)))


def _without_falsy(values: Mapping[str, Any]) -> dict[str, Any]:
    """A beta of 0 counts as not given, and a `truncate` of null as false."""
    kept = {name: value for name, value in values.items() if name not in ("beta_fast", "beta_slow") or value}
    return kept | {"truncate": bool(kept["truncate"])} if "truncate" in kept else kept


def longest_length(found: Found) -> float | None:
    """The longest length of a config as a number; raises StackStops for one that is no length."""
    return None if found.value is None else required(found.value, found.key, "length", 0, SIGNED)
