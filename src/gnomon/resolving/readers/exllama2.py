"""ExLlamaV2's `ExLlamaV2Config.prepare` and `rope.py`: one block at the top, tables for the length asked for."""

from dataclasses import dataclass, replace
from typing import Any, Final, final

import numpy as np

from gnomon.resolving.readers.serving.layers import Layer, Turning
from gnomon.resolving.readers.transformers5.classes import rotation_of
from gnomon.resolving.rules import formulas, scaling
from gnomon.resolving.rules.angles import Always, Angles, Schedule
from gnomon.resolving.rules.choices import Choices, unknown
from gnomon.resolving.rules.keys import Keys
from gnomon.resolving.rules.scaling import ORIGINAL, Scaled
from gnomon.resolving.rules.yarn import ends_rounded, yarn
from gnomon.resolving.stopping import StackStops

#: architectures that it has and whose rotation was traced; Gemma 3, Cohere 2 and GLM-4 are there too, untraced
MODELS: Final = frozenset(
    {
        *("llama", "mistral", "mixtral", "qwen2", "qwen2_vl", "qwen2_vl_text", "qwen3", "qwen3_moe", "gemma", "gemma2"),
        *("starcoder2", "cohere", "phi3", "minicpm", "internlm2", "granite"),
    }
)
CAPS: Final = ("max_sequence_length", "model_max_length", "max_position_embeddings", "max_seq_len", "n_positions")
HALVED: Final = frozenset({"qwen2_vl", "qwen2_vl_text"})  #: frequencies kept in float16
PLAIN: Final = 10_000.0


@final
@dataclass(frozen=True)
class Rules:
    """What differs between its versions: whether any kind may stand under `type` and under `rope_type`."""

    either: bool


@final
@dataclass(frozen=True)
class Started:
    """How the program was started: `length` is max_seq_len."""

    length: int
    choices: Choices
    rules: Rules


def turned(layer: Layer, started: Started) -> Turning:
    """One kind of layer; a block within an inner config is not looked for, and the whole head turns."""
    block = layer.file.part("rope_scaling")
    default = rotation_of(layer.model_type).base.base if started.rules.either else PLAIN
    names = ("rope_theta", f"{layer.standard.part}rope_theta") if layer.standard.part else ("rope_theta",)
    base = layer.file.number("base", *names, default=default)
    over = Scaled(base, layer.head_dim, None, None, started.length)
    rule = _kind(block, started)
    layer.text.lose("partial_rotary_factor", "the whole head turns")
    schedule = _schedule(rule, over, block, layer.file, started.choices)
    if layer.model_type in HALVED:
        schedule = _halved(schedule)
    notes = ("frequencies are kept in float16",) if layer.model_type in HALVED else ()
    return Turning(rule, base, over.dim, schedule, notes=notes)


def _kind(block: Keys, started: Started) -> str:
    """The kind of scaling; what it does not know is passed over."""
    given = {name: block.values.get(name) for name in ("type", "rope_type")}
    if all(given.values()) and started.choices.kind_key == "error":
        raise StackStops("AssertionError: rope_scaling has both `type` and `rope_type`")
    first: dict[str, Any] = {"linear": "linear", "su": "longrope", "longrope": "longrope", "yarn": "yarn"}
    name = "type" if given["type"] else "rope_type"
    listed = first | {"llama3": "llama3"} if started.rules.either else first if name == "type" else {"llama3": "llama3"}
    kind = block.text("kind", name, default="default")
    if kind not in (*listed, "default"):
        unknown(started.choices, f"{kind!r} is not known")
    if kind not in listed:
        block.lose("factor", f"{kind!r} under {name!r} is not known and passed over")
    return str(listed.get(kind, "default"))


def _schedule(rule: str, over: Scaled, block: Keys, file: Keys, choices: Choices) -> Schedule:
    if rule == "linear":
        return scaling.linear(over, block)
    if rule == "llama3":
        length = block.number("original length", ORIGINAL)
        return scaling.llama3(Scaled(over.base, over.dim, None, length), block)
    if rule == "yarn":
        return _yarn(over, block, choices)
    if rule == "longrope":
        return _longrope(over, block, file)
    return scaling.unscaled(over)


def _yarn(over: Scaled, block: Keys, choices: Choices) -> Schedule:
    """Only where more tokens are asked for than the original length; turns are counted in the length asked for."""
    factor, original = block.number("factor", "factor"), block.number("original length", ORIGINAL)
    if factor is None or original is None or over.served is None:
        raise StackStops(f"KeyError: yarn lacks factor or {ORIGINAL}")
    for name in ("beta_fast", "beta_slow", "attention_factor", "mscale", "mscale_all_dim"):
        block.lose(name, "fixed in its code")
    read = block.laid({"factor": factor, "truncate": block.values.get("truncate")}, block.paths("factor", "truncate"))
    if over.served <= original:
        ends_rounded(read, choices)
        return scaling.unscaled(over)
    magnitude = 0.1 * float(np.log(factor)) + 1.0 if factor > 0 else float("nan")
    return yarn(replace(over, longest=over.served, original=original), read, choices, magnitude=magnitude)


def _longrope(over: Scaled, block: Keys, file: Keys) -> Schedule:
    """The original length must stand at the top; list and magnitude go by the length that was asked for."""
    short, long = block.numbers("short list", "short_factor"), block.numbers("long list", "long_factor")
    original = file.number("original length", ORIGINAL)
    if short is None or long is None or original is None or over.served is None:
        raise StackStops(f"AssertionError: su lacks short_factor, long_factor or {ORIGINAL} at the top")
    block.lose(ORIGINAL, "looked for at the top of the file only")
    if over.served <= original:
        return Always(Angles(formulas.divided(over.plain, short, "short_factor")))
    factor = formulas.longrope_magnitude(over.served / original, original)
    return Always(Angles(formulas.divided(over.plain, long, "long_factor"), factor))


def _halved(schedule: Schedule) -> Schedule:
    if not isinstance(schedule, Always):
        return schedule
    inverse = schedule.angles.inverse.astype(np.float16).astype(np.float64)
    return Always(Angles(inverse, schedule.angles.magnitude))
