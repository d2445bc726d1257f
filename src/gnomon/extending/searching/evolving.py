"""An evolutionary search of a list that never falls: LongRoPE, Ding et al. 2024, arXiv:2402.13753, section 3.2.

As there: it starts from what is known to work, makes new lists by mutation and crossover of the best, and keeps to
lists that never fall, for slower pairs need no less interpolation. Unlike there, lists are made one by one instead of
64 at a time, so that a small budget goes far, and a mutation changes a run of neighbouring pairs by one factor.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from jaxtyping import Float64

Factors = Float64[np.ndarray, " pairs"]
STEP = 0.01  #: of the numbers of a list, as in the paper
SPARE = 1.25  #: times the scale that the largest number may be, as in the paper
PARENTS = 4  #: of the best lists that new ones are made from
CROSSED = 0.4  #: share of new lists that are crossovers
SPREAD = 0.35  #: standard deviation of the logarithm of a mutation's factor
TRIES = 50  #: new lists that may be known ones before the search ends early


@final
@dataclass(frozen=True)
class Scored:
    """A list and its loss."""

    factors: tuple[float, ...]
    loss: float


def evolve(
    loss: Callable[[Factors], float], starts: Sequence[Factors], *, scale: float, budget: int, seed: int
) -> tuple[Scored, ...]:
    """Every list that was tried, in order, `budget` at most; numbers lie between 1 and 1.25 `scale`.

    >>> found = evolve(lambda x: float(abs(x - [1, 3]).sum()), [np.array([4.0, 4.0])], scale=4.0, budget=60, seed=0)
    >>> found[0].loss, min(one.loss for one in found) < 1.0
    (4.0, True)
    """
    drawn, most = np.random.default_rng(seed), SPARE * scale
    tried: dict[tuple[float, ...], Scored] = {}
    waiting = [allowed(start, most) for start in starts]
    for _ in range(budget):
        factors = waiting.pop(0) if waiting else _new(tried, most, drawn)
        if factors is None:
            break
        key = tuple(factors.tolist())
        if key not in tried:
            tried[key] = Scored(key, loss(factors))
    return tuple(tried.values())


def allowed(factors: Factors, most: float) -> Factors:
    """The nearest list of whole steps between 1 and `most` that never falls from one pair to the next.

    >>> allowed(np.array([0.5, 3.006, 2.0, 9.0]), 5.0).tolist()
    [1.0, 3.01, 3.01, 5.0]
    """
    rising = np.maximum.accumulate(np.clip(factors, 1.0, most))
    result: Factors = np.minimum(np.round(rising / STEP) * STEP, np.floor(most / STEP + 1e-9) * STEP).round(2)
    return result


def _new(tried: dict[tuple[float, ...], Scored], most: float, drawn: np.random.Generator) -> Factors | None:
    """A list that was not tried: a crossover of two of the best, or a mutation of one."""
    best = sorted(tried.values(), key=lambda one: one.loss)[:PARENTS]
    for _ in range(TRIES):
        order = drawn.permutation(len(best))
        parents = [np.array(best[at].factors) for at in order[:2]]
        made = allowed(_made(parents, drawn), most)
        if tuple(made.tolist()) not in tried:
            return made
    return None


def _made(parents: Sequence[Factors], drawn: np.random.Generator) -> Factors:
    if len(parents) > 1 and drawn.random() < CROSSED:
        return np.where(drawn.random(len(parents[0])) < 0.5, *parents)
    first, last = np.sort(drawn.integers(0, len(parents[0]), size=2))
    child = parents[0].copy()
    child[first : last + 1] *= np.exp(SPREAD * drawn.standard_normal())
    return child
