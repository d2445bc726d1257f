"""Which length a model was trained for without scaling, and which it serves now: what every factor is counted from."""

from collections.abc import Mapping
from typing import Any

from gnomon.errors import GnomonError
from gnomon.extending.rotary.defaults import class_length
from gnomon.extending.rotary.held import ORIGINAL, Held, Lengths, whole
from gnomon.extending.rotary.reading import RotaryConfig, stated_lengths
from gnomon.extending.rotary.statements import BLOCKS

SERVED_IS_STATED = ("gemma3", "gemma3_text", "gemma3n_text")  #: linear scaling whose stated length is the served one
LARGEST = 2**31 - 1


def lengths_of(rotary: RotaryConfig, to: int, original: int | None = None) -> Lengths:
    """The lengths of an extension to `to` tokens; `original` overrides what the config says of the trained length.

    The original length is `original_max_position_embeddings` where a scaling is there, else the stated length. Raises
    GnomonError where the config leaves it open, and for a `to` that is not longer than what is served now.

    >>> from gnomon.extending.rotary.reading import read_rotary
    >>> yarn = {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768}
    >>> lengths_of(read_rotary({"model_type": "qwen2", "hidden_size": 64, "num_attention_heads": 4,
    ...                         "max_position_embeddings": 32768, "rope_scaling": yarn}), 262144)
    Lengths(original=32768, now=131072, stated=32768, to=262144, assumed=False, beside=None)
    """
    _require(to, "--to")
    stated, assumed = _stated(rotary, original)
    held, start = _leading(rotary), _trained(rotary, stated, original)
    by_factor = held.rule in ("linear", "dynamic", "yarn")
    reached = round(start * held.factor) if by_factor else start if held.rule == "default" else stated or start
    if original is None:
        _require_reached(held, start, reached, stated)
    now = reached if original is not None or stated is None or held.rule == "dynamic" else max(stated, reached)
    if to < now or (to == now and (stated or 0) >= to):
        raise GnomonError(
            f"The checkpoint serves {now:,} tokens by its config already ({held.name}, {start:,} original); "
            f"--to must be longer, got {to:,}."
        )
    beside = whole(rotary.part.get(ORIGINAL)) if held.rule == "default" and original is None else None
    return Lengths(start, now, stated, to, assumed, beside if beside and beside < start else None)


def trained_length(rotary: RotaryConfig, original: int | None = None) -> int:
    """The length that a model was trained for without scaling, in tokens: `original`, or what the config says.

    Raises GnomonError where the config leaves it open.
    """
    return _trained(rotary, _stated(rotary, original)[0], original)


def _leading(rotary: RotaryConfig) -> Held:
    """The kind of layer that is scaled, else the first one."""
    return next((held for held in rotary.held if not held.windowed and held.rule != "default"), rotary.held[0])


def _trained(rotary: RotaryConfig, stated: int | None, original: int | None) -> int:
    return _original(_leading(rotary), stated, rotary) if original is None else _require(original, "--original")


def _require_reached(held: Held, start: int, reached: int, stated: int | None) -> None:
    """A stated length beyond what original length and factor come to makes all later factors a guess."""
    if held.rule in ("linear", "yarn") and "factor" in held.values and stated and stated > 1.001 * reached:
        raise GnomonError(
            f"The config is scaled from {start:,} tokens by {held.factor:g}, which reaches {reached:,}, and states "
            f"{stated:,}; say with --original for how many tokens it was trained without scaling ({start} by its "
            "block), and the factor is counted anew from there."
        )


def _stated(rotary: RotaryConfig, original: int | None) -> tuple[int | None, bool]:
    """The stated length, and whether it is the class that states it."""
    found = stated_lengths(rotary)
    if original is None:
        _require_readable(rotary.part.get("max_position_embeddings"), "max_position_embeddings")
    if len(set(found.values())) > 1 and original is None:
        both = " and ".join(f"{key} {value:,}" for key, value in found.items())
        raise GnomonError(f"The config states two lengths ({both}); say with --original which one was trained.")
    if found or original is not None:
        return next(iter(found.values()), None), False
    length = class_length(rotary.model_type)
    if length is None:
        raise GnomonError("The config states no length; say with --original for how many tokens it was trained.")
    return length, True


def _original(held: Held, stated: int | None, rotary: RotaryConfig) -> int:
    """Of the scaling that is there; the stated length where there is none."""
    length = stated or 0
    given, beside = whole(held.values.get(ORIGINAL)), whole(rotary.part.get(ORIGINAL))
    block = next((b for name in BLOCKS if isinstance(b := rotary.part.get(name), Mapping) and b), {})
    inside = whole(block.get(ORIGINAL))
    for value in (held.values.get(ORIGINAL), block.get(ORIGINAL), rotary.part.get(ORIGINAL)):
        _require_readable(value, ORIGINAL)
    if held.rule != "default" and beside and inside and beside != inside:
        raise GnomonError(
            f"The config states two original lengths ({inside:,} in its block, {beside:,} beside it); "
            "say with --original which one was trained."
        )
    if held.rule == "proportional":
        return round(length / held.factor)
    if held.rule != "linear" or held.factor == 1:
        return (given if held.rule != "default" else None) or length
    if given:
        return given
    if rotary.model_type in SERVED_IS_STATED:
        return round(length / held.factor)
    raise GnomonError(
        f"The config scales linearly by {held.factor:g} and does not say from which length; give "
        f"--original {length} if it was trained to {length:,} tokens and reaches {round(length * held.factor):,}, "
        f"--original {round(length / held.factor)} if {length:,} is what it reaches."
    )


def _require_readable(value: Any, key: str) -> None:
    if value is not None and whole(value) is None:
        raise GnomonError(
            f"{key} is {repr(value)[:40]}, which is no number of tokens; mend it, or say with --original for how many "
            "tokens the model was trained."
        )


def _require(value: int, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 < value <= LARGEST:
        raise GnomonError(f"{name} is a number of tokens from 2 to {LARGEST:,}, got {value!r}.")
    return value
