"""NTK-aware bases of serving stacks that do not follow the sequence."""

import math

from gnomon.resolving.rules import formulas
from gnomon.resolving.rules.angles import Always, Angles
from gnomon.resolving.rules.scaling import Scaled
from gnomon.resolving.stopping import StackStops


def stretched(over: Scaled, inner: float) -> Angles:
    """base * inner^(d / (d - 2)); all NaN where `inner` is negative, which torch takes a fractional power of."""
    base = formulas.ntk_base(over.base, inner, over.dim)
    if math.isnan(base):
        return Angles(over.plain * math.nan)
    if base == 0:
        raise StackStops("the stretched base is zero")
    return Angles(formulas.plain(base, over.dim))


def by_alpha(over: Scaled, alpha: float) -> Always:
    """HunYuan's: base * alpha^(d / (d - 2)) from the first token on."""
    return Always(stretched(over, alpha))
