"""LongRoPE, a divisor for each pair and two lists of them: Ding et al. 2024, arXiv:2402.13753."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from gnomon.encodings.frequencies import ByParts, Plain
from gnomon.errors import GnomonError
from gnomon.extending.rotary.held import ORIGINAL, Held, Lengths, Scaled, number
from gnomon.extending.rotary.methods.goes_on import kept, require_rule, with_factor

SAME = 1e-3


@final
@dataclass(frozen=True)
class Lists:
    """Divisors for sequences up to the original length, and for longer ones; one number for each pair that turns."""

    short: tuple[float, ...]
    long: tuple[float, ...]
    attention_factor: float = 1.0


def longrope(held: Held, lengths: Lengths, lists: Lists | None = None) -> Scaled:
    """A short list up to the original length and a long list above it: those of a search, else by the rule below.

    Without a search the long list slows each pair as YaRN would: a pair that turns less than once within the original
    length is divided by the whole factor, one that turns more than 32 times is kept, a line between. Where lists are
    there, the short one stays, and the long one is slowed in that way by as much as the length grows once more.

    >>> longrope(Held(None, "default", 1e4, 4), Lengths(64, 64, 64, 128)).values["long_factor"]
    [1.0, 2.0]
    """
    require_rule(held, "LongRoPE", "default", "longrope")
    pairs = held.rotary_dim // 2
    if held.rule == "longrope":
        return _further(held, lengths, lists, pairs)
    found = lists or Lists((1.0,) * pairs, _slowed((1.0,) * pairs, held, lengths, lengths.factor))
    values: dict[str, Any] = {
        **kept(held),
        "factor": lengths.factor,
        ORIGINAL: lengths.original,
        "short_factor": list(_required(found.short, pairs)),
        "long_factor": list(_required(found.long, pairs)),
        "attention_factor": found.attention_factor,
    }
    usual = _magnitude(lengths.factor, lengths.original)
    plain = all(value == 1.0 for value in found.short) and found.attention_factor == 1.0
    short = "as they were" if plain else "by the short list"
    drawbacks = [
        "several stacks take one list for all lengths, by the length they were started with: "
        "short sequences then turn by the long list"
    ]
    if not math.isclose(found.attention_factor, usual, rel_tol=SAME):
        drawbacks.append(f"stacks that pass over attention_factor multiply cos and sin by {usual:.6f} at every length")
    return Scaled(
        "longrope",
        held.base,
        values,
        lengths.to,
        (
            f"sequences up to {lengths.original:,} tokens turn {short}, longer ones by the long list "
            f"({'of the search' if lists else 'by the bands of YaRN'}); cos and sin are multiplied by "
            f"{found.attention_factor:.6f}",
        ),
        tuple(drawbacks),
    )


def _further(held: Held, lengths: Lengths, lists: Lists | None, pairs: int) -> Scaled:
    short, long = (_listed(held, name, pairs) for name in ("short_factor", "long_factor"))
    if lists is not None:
        short, long = _required(lists.short, pairs), _required(lists.long, pairs)
    else:
        long = _slowed(long, held, lengths, lengths.stretch)
    values = {**held.values, ORIGINAL: lengths.original, "short_factor": list(short), "long_factor": list(long)}
    if "factor" in values:
        values = with_factor(values, lengths.factor)
    drawbacks = []
    if lengths.now > lengths.original:
        drawbacks.append(
            f"sequences between {lengths.original:,} and {lengths.now:,} tokens turn by the new long list too, because "
            "a config holds two lists"
        )
    if given := number(values.get("attention_factor")):
        old, new = (_magnitude(n / lengths.original, lengths.original) for n in (lengths.now, lengths.to))
        if math.isclose(given, old, rel_tol=SAME) and lengths.now > lengths.original:
            values["attention_factor"] = new
        else:
            drawbacks.append(f"attention_factor stays {given:g}: it was set on purpose")
    how = "both lists are those of the search" if lists else "the short list stays, and the long one is slowed further"
    return Scaled(
        "longrope",
        held.base,
        values,
        lengths.to,
        (f"{how}, for {lengths.to:,} tokens instead of {lengths.now:,}",),
        tuple(drawbacks),
    )


def _slowed(divisors: Sequence[float], held: Held, lengths: Lengths, factor: float) -> tuple[float, ...]:
    """Each divisor times what YaRN divides its pair by; six decimals, as published lists have."""
    plain = Plain(held.base).inverse(held.rotary_dim)
    slower = ByParts(factor, lengths.original, base=held.base, truncate=False).inverse(held.rotary_dim)
    return tuple(round(float(value), 6) for value in np.asarray(divisors) * plain / slower)


def _listed(held: Held, name: str, pairs: int) -> tuple[float, ...]:
    given = held.values.get(name)
    if not isinstance(given, list | tuple) or not all(number(value) for value in given):
        raise GnomonError(f"The {name} of the checkpoint is no list of numbers above zero, so it cannot be extended.")
    return _required(tuple(float(value) for value in given), pairs)


def _required(divisors: Sequence[float], pairs: int) -> tuple[float, ...]:
    if len(divisors) != pairs:
        raise GnomonError(f"A list of LongRoPE has {len(divisors)} numbers, and {pairs} pairs of the model turn.")
    return tuple(float(value) for value in divisors)


def _magnitude(ratio: float, length: float) -> float:
    return math.sqrt(1 + math.log(max(ratio, 1.0)) / math.log(length))
