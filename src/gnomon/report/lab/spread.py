"""One number for each seed, in short."""

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import final

from gnomon.errors import GnomonError


@final
@dataclass(frozen=True)
class Spread:
    """The mean over seeds, the lowest and the highest seed, and how far seeds stand apart."""

    mean: float
    low: float  #: of the seeds, not of an interval
    high: float
    sd: float | None  #: sample standard deviation, divided by n - 1; None for one seed
    seeds: int


def spread(numbers: Mapping[int, float]) -> Spread:
    """The spread of numbers by seed; raises GnomonError where there are none.

    >>> spread({0: 1.0, 1: 2.0, 2: 6.0})
    Spread(mean=3.0, low=1.0, high=6.0, sd=2.6457513110645907, seeds=3)
    """
    values = list(numbers.values())
    if not values:
        raise GnomonError("A spread needs the number of at least 1 seed, got none.")
    sd = stdev(values) if len(values) > 1 else None
    return Spread(fmean(values), min(values), max(values), sd, len(values))
