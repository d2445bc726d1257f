"""What llama.cpp's kernel turns by, once loader and context have settled the numbers."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

import numpy as np

from gnomon.resolving.rules import formulas
from gnomon.resolving.rules.angles import Always, Angles, Schedule, Switched
from gnomon.resolving.stopping import StackStops

UNMOVED = 1e30  #: a divisor that leaves a pair where it is
ONE, LONG, SHORT = "rope_freqs.weight", "rope_factors_long.weight", "rope_factors_short.weight"


@final
@dataclass(frozen=True)
class Rope:
    """One kind of layer: the base, the rotated width, the kind of scaling by its name in the file, and its numbers.

    `extends` is the weight of YaRN's unscaled part, 0 without YaRN. `betas` are the turns at the ends of the ramp,
    `internal` is the factor on cos and sin that the context hands over.
    """

    base: float
    dim: int
    kind: str
    factor: float
    original: float | None
    extends: float = 0.0
    betas: tuple[float, float] = (32.0, 1.0)
    internal: float = 1.0

    @property
    def turned(self) -> float:
        """The factor on cos and sin; the kernel multiplies by 1 + 0.1 ln(s) with YaRN."""
        grown = 1 + 0.1 * math.log(self.factor) if self.extends else 1.0
        return self.internal * grown


def schedule(rope: Rope, lists: Mapping[str, tuple[float, ...]]) -> Schedule:
    """`lists` holds rope_freqs, or the long and the short list; these are chosen by the length of the context."""
    if ONE in lists:
        return Always(_angles(rope, lists[ONE]))
    if LONG not in lists or SHORT not in lists:
        return Always(_angles(rope))
    if rope.original is None:
        raise StackStops("the file lacks the original length that the lists of divisors switch at")
    words = f"long list for everything once the context is larger than {rope.original:g}"
    return Switched(_angles(rope, lists[SHORT]), _angles(rope, lists[LONG]), rope.original, "served", words)


@np.errstate(all="ignore")
def _angles(rope: Rope, divisors: tuple[float, ...] = ()) -> Angles:
    if rope.base == 0 and 0 < rope.dim <= formulas.WIDEST:
        # 0 to a negative power is infinite: all pairs but the first have no cos
        return Angles(np.full((rope.dim + 1) // 2, np.nan), rope.turned)
    plain = formulas.plain(rope.base, rope.dim)
    inverse = formulas.divided(plain, divisors, "the list of divisors") if divisors else plain
    scaled = inverse / rope.factor
    if rope.extends:
        if rope.original is None:
            raise StackStops("the file lacks the length that YaRN counts turns in")
        ends = formulas.ramp_ends(rope.base, rope.dim, rope.original, *rope.betas)
        mixed = formulas.yarn(inverse, rope.factor, *ends, rounded=True, most=rope.dim - 1)
        scaled = scaled + rope.extends * (mixed - scaled)
    return Angles(scaled, rope.turned)
