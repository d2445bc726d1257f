"""How the numbers of a study are written, and what comparisons and rankings say, in words."""

import math

from gnomon.report.lab.results import MeasureInfo
from gnomon.report.lab.spread import Spread
from gnomon.report.lab.study import Comparison, Outcome, Ranking, Study
from gnomon.report.reading import join, plural

NOT_CORRECTED = (
    "Each interval stands for itself: where nothing differs, one in twenty 95% intervals would still leave zero out."
)
CORRECTED = "A ranking compares the best with each other, corrected by Holm's method, and perplexities by ratios."
OUTCOMES: tuple[Outcome, ...] = ("fails", "no difference seen", "not measured", "holds")


def written(number: float) -> str:
    """Three digits, or two of a small share, without an exponent where people use none.

    >>> [written(x) for x in (0.98765, 12.345, 8200.4, 0.05, 0.00212, 0.00012, 0.0, -3.0)]
    ['0.988', '12.3', '8200', '0.050', '0.00212', '0.00012', '0', '-3.00']
    """
    return f"{number:.{decimals}f}" if (decimals := _decimals(abs(number))) is not None else f"{number:.3g}"


def written_spread(spread: Spread) -> str:
    """The mean, and after it the standard deviation over seeds where there are several.

    >>> written_spread(Spread(0.9812, 0.96, 0.99, 0.0123, 3)), written_spread(Spread(12.0, 12.0, 12.0, None, 1))
    ('0.981 ± 0.012', '12.0')
    """
    if spread.sd is None:
        return written(spread.mean)
    decimals = _decimals(max(abs(spread.mean), spread.sd))
    if decimals is None:
        return f"{written(spread.mean)} ± {spread.sd:.2g}"
    return f"{spread.mean:.{decimals}f} ± {spread.sd:.{decimals}f}"


def _decimals(size: float) -> int | None:
    """None: too small, or too large, to be written without an exponent."""
    if size == 0 or not 1e-3 <= size < 1e7:
        return None
    return min(3 if size >= 0.01 else 5, max(0, 2 - math.floor(math.log10(size))))


def place(info: MeasureInfo, at: float | None) -> str:
    """
    >>> place(MeasureInfo("exact_match", "exact match", axis="length"), 64.0)
    'exact match at length 64'
    """
    return info.title if at is None else f"{info.title} at {info.axis or 'place'} {at:g}"


def compared(comparison: Comparison, info: MeasureInfo) -> str:
    """What a comparison says, in one sentence.

    >>> loss = MeasureInfo("loss", "loss", "nats", better="lower")
    >>> compared(Comparison("copy", "loss", None, "a", "b", 3, -0.5, -0.7, -0.3), loss)
    'loss: a is lower (better) than b by 0.500 nats (95% interval 0.300 to 0.700, 3 seeds).'
    >>> compared(Comparison("copy", "loss", None, "a", "b", 3, 0.5, -0.1, 1.1), loss)
    'loss: no difference seen between a and b (a - b = 0.500 nats, 95% interval -0.100 to 1.10, 3 seeds).'
    >>> compared(Comparison("copy", "loss", None, "a", "b", 1, 0.5, None, None), loss)
    'loss: one seed, no comparison (a - b = 0.500 nats).'
    """
    c, what, unit = comparison, place(info, comparison.at), f" {info.unit}" if info.unit else ""
    if c.low is None or c.high is None:
        return f"{what}: one seed, no comparison ({c.a} - {c.b} = {written(c.difference)}{unit})."
    level = f"{100 * c.confidence:g}% interval"
    if not c.decided:
        between = f"{c.a} - {c.b} = {written(c.difference)}{unit}, {level} {written(c.low)} to {written(c.high)}"
        return f"{what}: no difference seen between {c.a} and {c.b} ({between}, {c.seeds} seeds)."
    side = "lower" if c.difference < 0 else "higher"
    worth = "" if info.better is None else " (better)" if info.better == side else " (worse)"
    near, far = sorted((abs(c.low), abs(c.high)))
    how = f"{level} {written(near)} to {written(far)}, {c.seeds} seeds"
    if near == far:
        how = f"the same in each of {c.seeds} seeds"
    return f"{what}: {c.a} is {side}{worth} than {c.b} by {written(abs(c.difference))}{unit} ({how})."


def ranked(ranking: Ranking | None, info: MeasureInfo) -> str:
    """What may be said of the best, in one sentence.

    >>> loss = MeasureInfo("loss", "loss", better="lower")
    >>> ranked(Ranking("copy", "loss", None, ("a", "b", "c"), (1.0, 2.0, 3.0), (("a", "b"),), 3), loss)
    'loss: best a; no difference to it seen of b.'
    >>> ranked(None, loss)
    'loss: no ranking; it takes 3 seeds that every variant has.'
    """
    if ranking is None:
        return f"{info.title}: no ranking; it takes 3 seeds that every variant has."
    what, first, others = place(info, ranking.at), ranking.names[0], list(ranking.best[1:])
    if len(ranking.best) == len(ranking.names):
        return f"{what}: no difference seen between {first}, whose mean is best, and any other."
    return f"{what}: best {first}{f'; no difference to it seen of {join(others)}' if others else ''}."


def verdict(study: Study) -> str:
    """How many expectations held, worst news first.

    >>> verdict(Study("copy", "", "", "", "quick", ""))
    'Nothing was expected.'
    """
    counts = {outcome: sum(j.outcome == outcome for j in study.judgements) for outcome in OUTCOMES}
    total = plural(len(study.judgements), "expectation")
    said = [f"{count} {_verb(outcome, count)}" for outcome, count in counts.items() if count]
    return f"Of {total}, {join(said)}." if said else "Nothing was expected."


def _verb(outcome: Outcome, count: int) -> str:
    plain = {"holds": "hold", "fails": "fail"}
    if outcome in plain:
        return plain[outcome] if count > 1 else outcome
    return f"{'were' if count > 1 else 'was'} not measured" if outcome == "not measured" else "showed no difference"


def duration(seconds: float) -> str:
    """
    >>> duration(4.24), duration(81.5), duration(7400)
    ('4.2 s', '1 min 22 s', '2 h 3 min')
    """
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def summary(study: Study) -> str:
    """How many runs, with which seeds, and what they took one after another."""
    runs = plural(len(study.results), "run")
    failed = f", {len(study.failures)} failed" if study.failures else ""
    seeds = f", {'seed' if len(study.seeds) == 1 else 'seeds'} {join([str(seed) for seed in study.seeds])}"
    return f"{runs}{failed}{seeds if study.seeds else ''}, {duration(study.seconds)} in all."


def notes(study: Study) -> list[str]:
    """What single runs noted, each thing once."""
    return list(dict.fromkeys(note for result in study.results for note in result.notes))
