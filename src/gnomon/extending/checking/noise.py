"""Differences of losses that were measured at the same tokens, and how far chance alone would move them.

Losses of neighbouring tokens are not independent, so the standard error is that of means over blocks of tokens.
"""

import math
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any, final

import numpy as np
from jaxtyping import Float64

BLOCK = 32  #: scored tokens whose mean counts as one draw
ERRORS = 3.0  #: standard errors from which on a difference is called one, for many draws: once in 370 times by chance
MANY = 1000  #: degrees of freedom from which on more make no difference
FEWEST = 4  #: draws without which nothing is called a difference
FEW = 32  #: draws with which a longer text would make a smaller difference visible
ROUNDING = 1e-4  #: nats; what another order of sums may change


@final
@dataclass(frozen=True)
class Change:
    """Means before and after, and the standard error of their difference over `draws`; None where there is no number.

    >>> Change(2.0, 2.5, 0.1, draws=100).sentence("loss")
    'the loss rose from 2.000 to 2.500 (+0.500, standard error 0.100)'
    >>> Change(2.0, 2.1, 0.1, draws=100).sentence("loss").partition("; ")[2]
    '100 blocks of 32 tokens at most: 3.1 standard errors would be needed'
    """

    before: float | None
    after: float | None
    error: float | None = None
    draws: int = 0

    @property
    def difference(self) -> float | None:
        """after - before."""
        return None if self.before is None or self.after is None else self.after - self.before

    @property
    def direction(self) -> int:
        """1 for a rise and -1 for a fall beyond noise, else 0."""
        if self.difference is None or self.error is None or self.draws < FEWEST or not math.isfinite(self.difference):
            return 0
        far = abs(self.difference) > max(errors(self.draws) * self.error, ROUNDING)
        return int(np.sign(self.difference)) if far else 0

    @property
    def none(self) -> bool:
        """Whether both were measured and differ by rounding at most."""
        return self.difference is not None and abs(self.difference) <= ROUNDING

    def sentence(self, what: str, draws: str = f"blocks of {BLOCK} tokens at most") -> str:
        """In words, never claiming a difference within noise; `draws` says what counts as one."""
        if self.before is None or self.after is None or self.difference is None:
            return f"the {what} could not be compared"
        if self.none:
            return f"the {what} is unchanged ({self.after:.3f})"
        spread = "" if self.error is None else f", standard error {self.error:.3f}"
        numbers = f"from {self.before:.3f} to {self.after:.3f} ({self.difference:+.3f}{spread})"
        verb = {1: "rose", -1: "fell"}.get(self.direction)
        if verb:
            return f"the {what} {verb} {numbers}"
        return f"no change of the {what} is seen beyond noise: {numbers}; {self._needed(draws)}"

    def _needed(self, draws: str) -> str:
        """What a difference would have to be for so few draws."""
        if self.draws < FEWEST or self.error is None:
            return f"{self.draws} of the {FEWEST} {draws} that would be needed"
        few = "only " if self.draws < FEW else ""
        return f"{few}{self.draws} {draws}: {errors(self.draws):.1f} standard errors would be needed"

    def to_dict(self) -> dict[str, Any]:
        """Plain data; `difference` and `direction` beside the fields."""
        numbers = {"before": self.before, "after": self.after, "difference": self.difference, "error": self.error}
        return {**numbers, "draws": self.draws, "direction": self.direction}


def compare(
    before: Float64[np.ndarray, "rows places"] | None,
    after: Float64[np.ndarray, "rows places"] | None,
    *,
    block: int | None = BLOCK,
) -> Change:
    """The change between losses of the same tokens; NaN at places that are not scored, in both alike.

    `block`: places of one row whose mean is one draw; None for whole rows.

    >>> compare(np.ones((2, 64)), np.full((2, 64), 1.5))
    Change(before=1.0, after=1.5, error=0.0, draws=4)
    """
    if before is None or after is None:
        return Change(_mean(before), _mean(after))
    differences = after - before
    draws = [
        float(np.nanmean(part))
        for row in differences
        for part in _parts(row, len(row) if block is None else block)
        if not np.isnan(part).all()
    ]
    error = stdev(draws) / math.sqrt(len(draws)) if len(draws) > 1 and np.isfinite(draws).all() else None
    return Change(_mean(before), _mean(after), error, len(draws))


def errors(draws: int) -> float:
    """How many standard errors of so many draws are as unlikely as `ERRORS` of very many: Student's t.

    >>> round(errors(4), 2), round(errors(8), 2), round(errors(1000), 2)
    (9.22, 4.53, 3.01)
    """
    free, wanted = min(draws - 1, MANY), math.erf(ERRORS / math.sqrt(2))
    low, high = ERRORS, 1e4
    while high - low > 1e-9 * low:
        middle = (low + high) / 2
        low, high = (middle, high) if _within(middle, free) < wanted else (low, middle)
    return high


def _within(t: float, free: int) -> float:
    """The probability that Student's t of so many degrees of freedom lies between -t and t.

    Abramowitz and Stegun 1964, 26.7.3 and 26.7.4.
    """
    angle = math.atan(t / math.sqrt(free))
    sine, square = math.sin(angle), math.cos(angle) ** 2
    odd = free % 2
    term = math.cos(angle) if odd else 1.0
    total = 0.0
    for power in range(1 if odd else 0, free - 1, 2):
        total += term
        term *= square * (power + 1) / (power + 2)
    return 2 / math.pi * (angle + sine * total) if odd else sine * total


def _parts(row: Float64[np.ndarray, " places"], block: int) -> list[Float64[np.ndarray, " block"]]:
    """Whole blocks counted from the end of the row; the row itself where it holds none."""
    count = len(row) // block
    return [row] if count == 0 else np.split(row[len(row) - count * block :], count)


def _mean(losses: Float64[np.ndarray, "rows places"] | None) -> float | None:
    if losses is None:
        return None
    scored = losses[~np.isnan(losses)]
    return fmean(scored.tolist()) if len(scored) else None
