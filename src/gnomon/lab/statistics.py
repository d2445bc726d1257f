"""What numbers of several seeds can tell: paired intervals, and rankings that say where no difference is seen.

Every variant of a suite sees the same data in the same order for one seed, so two variants are compared by their
differences seed by seed. The interval is that of Student's t for the mean of the differences; it supposes that the
differences of the seeds are like draws from one bell curve, which few seeds cannot show.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from statistics import fmean, stdev
from types import ModuleType

from gnomon.errors import GnomonError
from gnomon.lab.suites.base import Pair
from gnomon.report.lab.evidence import Evidence
from gnomon.report.lab.results import Better, MeasureInfo, Scale
from gnomon.report.lab.spread import Spread, spread
from gnomon.report.lab.study import Comparison, Ranking

__all__ = ["Spread", "compare", "interval", "ranking", "rankings", "spread", "undecided"]

FEWEST_SEEDS = 3  #: of a ranking
#: Differences that agree to this share of their size differ by rounding alone.
ROUNDING = 1e-12

Numbers = Mapping[int, float]  #: by seed


def compare(evidence: Evidence, pair: Pair, confidence: float = 0.95) -> Comparison | None:
    """a - b over the seeds that both have, with the interval of its mean; None where they have no seed in common.

    One seed gives no interval. The level is that of each comparison by itself: a suite states its few comparisons
    before it runs, and they are not corrected for their number.

    >>> from gnomon.report.lab.results import Result, Run, Series
    >>> def measured(variant: str, seed: int, loss: float) -> Result:
    ...     run = Run("train", "copy", variant, seed)
    ...     return Result(run, {variant: {"loss": Series.number(loss)}}, seconds=1.0)
    >>> results = [measured("a", s, x) for s, x in enumerate((1.0, 2.0, 3.0))]
    >>> results += [measured("b", s, x) for s, x in enumerate((0.0, 0.0, 0.0))]
    >>> seen = compare(Evidence(results), Pair("copy", "loss", None, "a", "b"))
    >>> seen.difference, round(seen.low, 3), round(seen.high, 3), seen.decided
    (2.0, -0.484, 4.484, False)
    """
    a, b = (evidence.by_seed(pair.group, variant, pair.measure, pair.at) for variant in (pair.a, pair.b))
    found = _differences(a, b)
    if not found:
        return None
    low, high = interval(found, confidence)
    return Comparison(
        pair.group, pair.measure, pair.at, pair.a, pair.b, len(found), fmean(found), low, high, confidence
    )


def interval(differences: Sequence[float], confidence: float = 0.95) -> tuple[float | None, float | None]:
    """The t interval of the mean: mean ± t(n - 1) sd / sqrt(n). (None, None) for fewer than two differences.

    Differences that are all equal give an interval without width. Raises GnomonError for a confidence outside 0 to 1.
    """
    if not 0 < confidence < 1:
        raise GnomonError(f"A confidence lies between 0 and 1, got {confidence}.")
    if len(differences) < 2:
        return None, None
    mean, error = fmean(differences), _error(differences)
    reach = float(_special().stdtrit(len(differences) - 1, (1 + confidence) / 2)) * error
    return mean - reach, mean + reach


def ranking(
    evidence: Evidence,
    group: str,
    measure: str,
    at: float | None,
    better: Better,
    *,
    confidence: float = 0.95,
    scale: Scale = "linear",
) -> Ranking | None:
    """The variants of a group that were measured at one place, best mean first, and those as good as the first.

    None for fewer than three seeds that all of them have, or fewer than two variants. Variants that could not be
    measured there are left out. Only pairs with the first are asked, and corrected for their number by Holm's method.
    On a "log" scale pairs are compared by their ratios: a perplexity of 30 varies by more than one of 6 does.
    """
    measured = {v: evidence.by_seed(group, v, measure, at) for v in evidence.variants(group)}
    found = {variant: numbers for variant, numbers in measured.items() if numbers}
    seeds = set.intersection(*(set(numbers) for numbers in found.values())) if found else set()
    if len(seeds) < FEWEST_SEEDS or len(found) < 2:
        return None
    common = {v: {seed: numbers[seed] for seed in sorted(seeds)} for v, numbers in found.items()}
    means = {variant: fmean(numbers.values()) for variant, numbers in common.items()}
    names = sorted(means, key=lambda variant: means[variant], reverse=better == "higher")
    pairs = [(names[0], other) for other in names[1:]]
    ties = undecided({name: _scaled(common[name], scale) for name in names}, confidence, pairs)
    return Ranking(group, measure, at, tuple(names), tuple(means[name] for name in names), ties, len(seeds), confidence)


def rankings(evidence: Evidence, measures: Sequence[MeasureInfo]) -> tuple[Ranking, ...]:
    """Every ranking that may be printed: of measures that have a better end, at each place, in each group."""
    found = (
        ranking(evidence, group, info.name, at, info.better, scale=info.scale)
        for group in evidence.groups()
        for info in measures
        if info.better is not None
        for at in evidence.places(group, info.name)
    )
    return tuple(one for one in found if one is not None)


def undecided(
    numbers: Mapping[str, Numbers], confidence: float = 0.95, asked: Sequence[tuple[str, str]] | None = None
) -> tuple[tuple[str, str], ...]:
    """The pairs between which no difference is seen, of those asked (None: of all), by paired t tests.

    The step-down method of Holm 1979, Scandinavian Journal of Statistics 6, 65-70: the smallest of m p values is held
    against (1 - confidence) / m, the next against / (m - 1), and so on; from the first that is too large on, all are
    undecided.
    """
    pairs = list(combinations(numbers, 2)) if asked is None else list(asked)
    chance = {(a, b): _chance(_differences(numbers[a], numbers[b])) for a, b in pairs}
    ordered = sorted(pairs, key=lambda pair: chance[pair])
    seen = 0
    while seen < len(ordered) and chance[ordered[seen]] <= (1 - confidence) / (len(ordered) - seen):
        seen += 1
    left = set(ordered[seen:])
    return tuple(pair for pair in pairs if pair in left)


def _scaled(numbers: Numbers, scale: Scale) -> Numbers:
    return numbers if scale == "linear" else {seed: math.log(number) for seed, number in numbers.items()}


def _differences(a: Numbers, b: Numbers) -> list[float]:
    return [a[seed] - b[seed] for seed in sorted(a.keys() & b.keys())]


def _error(differences: Sequence[float]) -> float:
    """The standard error of the mean; zero where the differences differ by rounding alone."""
    sd = stdev(differences)
    return 0.0 if sd <= ROUNDING * max(map(abs, differences)) else float(sd / len(differences) ** 0.5)


def _chance(differences: Sequence[float]) -> float:
    """The p value of the two-sided paired t test; 1 where there is nothing to test."""
    if len(differences) < 2:
        return 1.0
    mean, error = fmean(differences), _error(differences)
    if error == 0:
        return 1.0 if mean == 0 else 0.0
    return 2 * float(_special().stdtr(len(differences) - 1, -abs(mean) / error))


def _special() -> ModuleType:
    try:
        from scipy import special
    except ImportError as error:
        raise GnomonError("Intervals are computed by scipy; install it with `pip install 'gnomon[lab]'`.") from error
    found: ModuleType = special
    return found
