"""From a rotary block to angles, by a stack's choices: plain, linear, Llama 3's, and the NTK-aware bases.

YaRN and LongRoPE have files of their own beside this one; a stack with a rule of its own computes it in its reader.
"""

import math
from dataclasses import dataclass
from typing import final

from gnomon.resolving.rules import formulas
from gnomon.resolving.rules.angles import Always, Angles, Growing, Schedule
from gnomon.resolving.rules.choices import Choices, chosen
from gnomon.resolving.rules.keys import Keys
from gnomon.resolving.stopping import StackStops

ORIGINAL = "original_max_position_embeddings"


@final
@dataclass(frozen=True)
class Scaled:
    """What a block is laid over: the base, the rotated width, and the lengths that the stack has found.

    `longest` is the longest length by the file (max_position_embeddings), `original` the trained one if the file gives
    it, `served` the length that the server was started with where the stack's tables depend on it.
    """

    base: float
    dim: int
    longest: float | None
    original: float | None
    served: float | None = None

    @property
    def plain(self) -> formulas.Pairs:
        return formulas.plain(self.base, self.dim)


def unscaled(over: Scaled) -> Schedule:
    """The plain frequencies."""
    return Always(Angles(over.plain))


def linear(over: Scaled, block: Keys) -> Schedule:
    """All frequencies divided by `factor`."""
    return Always(Angles(over.plain / _factor(block)))


def llama3(
    over: Scaled,
    block: Keys,
    *,
    factor: float | None = None,
    low: float | None = None,
    high: float | None = None,
    original: float | None = None,
) -> Schedule:
    """Llama 3's rule; a number given here is the stack's default for a key that the block lacks."""
    length = over.original or original
    low, high = (
        block.number("low_freq_factor", "low_freq_factor", default=low),
        block.number("high_freq_factor", "high_freq_factor", default=high),
    )
    if length is None or low is None or high is None:
        raise StackStops("llama3 lacks original_max_position_embeddings, low_freq_factor or high_freq_factor")
    return Always(Angles(formulas.llama3(over.plain, _factor(block, factor), low, high, length)))


def stretched(over: Scaled, share: float) -> Angles:
    """base * share^(d / (d - 2)); all NaN where `share` is negative, which torch takes a fractional power of."""
    base = formulas.ntk_base(over.base, share, over.dim)
    if math.isnan(base):
        return Angles(over.plain * math.nan)
    if base == 0:
        raise StackStops("the stretched base is zero")
    return Angles(formulas.plain(base, over.dim))


def by_alpha(over: Scaled, alpha: float) -> Always:
    """HunYuan's: base * alpha^(d / (d - 2)) from the first token on, whatever the length."""
    if alpha < 0:
        raise StackStops(f"an alpha of {alpha:g} makes no base")
    return Always(stretched(over, alpha))


def dynamic(over: Scaled, block: Keys, choices: Choices) -> Schedule:
    """Dynamic NTK by the choice `dynamic`: base * (s n / L - (s - 1))^(d / (d - 2)) at a length n above L."""
    choice = chosen(choices.dynamic, "dynamic")
    if choice == "alpha" or (block.has("alpha") and not block.has("factor")):
        return by_alpha(over, block.number("alpha", "alpha", default=1.0))
    factor = _factor(block)
    if choice == "constant":
        return Always(stretched(over, factor * factor - (factor - 1)))
    limit, plain = over.longest, Angles(over.plain)
    if not limit:
        raise StackStops("dynamic scaling lacks max_position_embeddings")

    def angles(length: float) -> Angles:
        return stretched(over, factor * length / limit - (factor - 1)) if length > limit else plain

    if choice == "served":
        return Growing(angles, limit, "served", f"base grows with the served length above {limit:g}")
    counted = "the length of the prompt" if choice == "prompt" else "the longest sequence so far"
    return Growing(angles, limit, "sequence", f"base grows with {counted} above {limit:g}")


def _factor(block: Keys, default: float | None = None) -> float:
    factor = block.number("factor", "factor", default=default)
    if not factor:
        raise StackStops("the block lacks a factor")
    return float(factor)
