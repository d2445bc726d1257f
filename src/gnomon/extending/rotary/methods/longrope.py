"""LongRoPE, a divisor for each pair and two lists of them: Ding et al. 2024, arXiv:2402.13753."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from jaxtyping import Float64

from gnomon.encodings.frequencies import ByParts, Plain
from gnomon.errors import GnomonError
from gnomon.extending.rotary.held import ORIGINAL, Held, Lengths, Scaled, number
from gnomon.extending.rotary.methods.goes_on import kept, require_rule, with_factor

SAME = 1e-3
OWN = 1e-5  #: a list of the rule, rounded or in float32


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
    there, the short one stays, and the long one is slowed by what the rule gives for the new length over what it gives
    for the old one; so two steps of the rule are one.

    >>> longrope(Held(None, "default", 1e4, 4), Lengths(64, 64, 64, 128)).values["long_factor"]
    [1.0, 2.0]
    """
    require_rule(held, "LongRoPE", "default", "longrope")
    pairs = held.rotary_dim // 2
    if held.rule == "longrope":
        return _further(held, lengths, lists, pairs)
    found = lists or Lists((1.0,) * pairs, _rounded(_slowness(held, lengths, lengths.factor)))
    values: dict[str, Any] = {
        **kept(held),
        "factor": lengths.factor,
        ORIGINAL: lengths.original,
        "short_factor": list(_required(found.short, pairs)),
        "long_factor": list(_required(found.long, pairs)),
        "attention_factor": found.attention_factor,
    }
    usual = magnitude(lengths.factor, lengths.original)
    plain = all(value == 1.0 for value in found.short) and found.attention_factor == 1.0
    short = "as they were" if plain else "by the short list"
    drawbacks = [
        "several engines take one list for all lengths, by the length they were started with: "
        "short sequences then turn by the long list"
    ]
    if not math.isclose(found.attention_factor, usual, rel_tol=SAME):
        drawbacks.append(f"engines that pass over attention_factor multiply cos and sin by {usual:.6f} at every length")
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
        long = _slowed_further(long, held, lengths)
    values = {**held.values, ORIGINAL: lengths.original, "short_factor": list(short), "long_factor": list(long)}
    if "factor" in values:
        values = with_factor(values, lengths.factor)
    drawbacks = []
    if lengths.now > lengths.original:
        drawbacks.append(
            f"sequences between {lengths.original:,} and {lengths.now:,} tokens turn by the new long list too, because "
            "a config holds two lists"
        )
    attention, said = _attention(held, lengths)
    values |= attention
    drawbacks += said
    how = "both lists are those of the search" if lists else "the short list stays, and the long one is slowed further"
    return Scaled(
        "longrope",
        held.base,
        values,
        lengths.to,
        (f"{how}, for {lengths.to:,} tokens instead of {lengths.now:,}",),
        tuple(drawbacks),
    )


def _attention(held: Held, lengths: Lengths) -> tuple[dict[str, float], tuple[str, ...]]:
    """The factor on cos and sin as it follows the length, and what that does to short texts.

    Where a config states none every reader takes it from the new length, and writing the old one would part the
    readers that pass over the key from the others; so it follows, and that is said.
    """
    given = number(held.values.get("attention_factor"))
    ratio = number(held.values.get("factor")) or lengths.now / lengths.original
    old, new = (magnitude(one, lengths.original) for one in (ratio, lengths.factor))
    if given is not None and not (math.isclose(given, old, rel_tol=SAME) and ratio > 1):
        return {}, (f"attention_factor stays {given:g}: it was set on purpose",)
    if math.isclose(old, new, rel_tol=1e-9):
        return {}, ()
    stated = "" if given is not None else "; attention_factor in the block would keep it where it is read"
    return {} if given is None else {"attention_factor": new}, (
        f"cos and sin are multiplied by {new:.6f} instead of {old:.6f} at every length, so short texts change too"
        f"{stated}",
    )


def _slowed_further(long: tuple[float, ...], held: Held, lengths: Lengths) -> tuple[float, ...]:
    old, new = (_slowness(held, lengths, length / lengths.original) for length in (lengths.now, lengths.to))
    if np.allclose(long, old, rtol=OWN, atol=OWN):  # the rule's own list, without what was rounded off it
        return _rounded(new)
    return _rounded(np.asarray(long) * new / old)


def _slowness(held: Held, lengths: Lengths, factor: float) -> Float64[np.ndarray, " pairs"]:
    """What YaRN divides each pair by, for this factor over the original length."""
    if factor <= 1:
        return np.ones(held.rotary_dim // 2)
    slower = ByParts(factor, lengths.original, base=held.base, truncate=False).inverse(held.rotary_dim)
    slowness: Float64[np.ndarray, " pairs"] = Plain(held.base).inverse(held.rotary_dim) / slower
    return slowness


def _rounded(divisors: Float64[np.ndarray, " pairs"]) -> tuple[float, ...]:
    """Six decimals, as published lists have."""
    return tuple(round(float(value), 6) for value in divisors)


def _listed(held: Held, name: str, pairs: int) -> tuple[float, ...]:
    given = held.values.get(name)
    if not isinstance(given, list | tuple) or not all(number(value) for value in given):
        raise GnomonError(f"The {name} of the checkpoint is no list of numbers above zero, so it cannot be extended.")
    return _required(tuple(float(value) for value in given), pairs)


def _required(divisors: Sequence[float], pairs: int) -> tuple[float, ...]:
    if len(divisors) != pairs:
        raise GnomonError(f"A list of LongRoPE has {len(divisors)} numbers, and {pairs} pairs of the model turn.")
    return tuple(float(value) for value in divisors)


def magnitude(ratio: float, length: float) -> float:
    """The usual factor on cos and sin: sqrt(1 + ln(r) / ln(L)), 1 up to a ratio of 1."""
    return math.sqrt(1 + math.log(max(ratio, 1.0)) / math.log(length))
