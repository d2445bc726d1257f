"""Whether a value of a file is a number that a stack can compute with. The bounds have names here."""

import math
from typing import Any, Final

from gnomon.resolving.stopping import StackStops

HUGE: Final = 1e300  #: products of two numbers of a file are kept from overflowing
SIGNED: Final = 2**63  #: lengths are signed integers of 64 bits where tensors are made
EXACT: Final = 2**53  #: up to here a float64 holds every whole number
SIZE: Final = 2**31  #: sizes are signed integers of 32 bits in C
SHARE: Final = 1e6  #: a share of a head above it is no share


def finite(value: Any) -> bool:
    """Whether a value is a number, and one that a float holds.

    >>> finite(3), finite(True), finite("3"), finite(float("nan")), finite(10**400)
    (True, False, False, False, False)
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def between(value: Any, low: float = -HUGE, high: float = HUGE) -> bool:
    """Whether a value is a number strictly between the two.

    >>> between(0, 0), between(4096, 0, EXACT), between(2**53, 0, EXACT), between(1e301)
    (False, True, False, False)
    """
    return finite(value) and bool(low < value < high)


def required(value: Any, key: str, what: str = "number", low: float = -HUGE, high: float = HUGE) -> float:
    """The value as a float; raises StackStops, naming its key, for one that is no number between the two."""
    if not between(value, low, high):
        raise StackStops(f"{key} is {value!r}, which is no {what}")
    return float(value)
