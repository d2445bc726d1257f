"""Which length a model was trained for without scaling, and which it serves now: what every factor is counted from."""

from collections.abc import Mapping

from gnomon.errors import GnomonError
from gnomon.extending.rotary.defaults import class_length
from gnomon.extending.rotary.held import ORIGINAL, Held, Lengths, whole
from gnomon.extending.rotary.reading import BLOCKS, RotaryConfig, stated_lengths

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
    Lengths(original=32768, now=131072, stated=32768, to=262144, assumed=False)
    """
    _require(to, "--to")
    stated, assumed = _stated(rotary, original)
    scaled = next((held for held in rotary.held if not held.windowed and held.rule != "default"), None)
    held = scaled or rotary.held[0]
    start = _original(held, stated, rotary) if original is None else _require(original, "--original")
    by_factor = held.rule in ("linear", "dynamic", "yarn")
    reached = round(start * held.factor) if by_factor else start if held.rule == "default" else stated or start
    now = reached if original is not None or stated is None or held.rule == "dynamic" else max(stated, reached)
    if to < now or (to == now and (stated or 0) >= to):
        raise GnomonError(
            f"The checkpoint serves {now:,} tokens by its config already ({held.name}, {start:,} original); "
            f"--to must be longer, got {to:,}."
        )
    return Lengths(start, now, stated, to, assumed)


def _stated(rotary: RotaryConfig, original: int | None) -> tuple[int | None, bool]:
    """The stated length, and whether it is the class that states it."""
    found = stated_lengths(rotary)
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


def _require(value: int, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 < value <= LARGEST:
        raise GnomonError(f"{name} is a number of tokens from 2 to {LARGEST:,}, got {value!r}.")
    return value
