"""Numbers of a benchmark as a reader wants them."""

from gnomon.report.bench.results import MIB, Verdict

OUTCOMES = {True: "holds", False: "does not hold here", None: "no verdict"}


def seconds_word(seconds: float) -> str:
    """A duration with three digits and its unit.

    >>> seconds_word(2.5e-6), seconds_word(0.0123), seconds_word(4.5)
    ('2.50 us', '12.3 ms', '4.50 s')
    """
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{number_word(seconds / size)} {unit}"
    return f"{number_word(seconds / 1e-6)} us"


def bytes_word(size: int) -> str:
    """A size in MiB, or in GiB from 10 of them on.

    >>> bytes_word(3 << 19), bytes_word(12 << 30)
    ('1.50 MiB', '12.0 GiB')
    """
    mebibytes = size / MIB
    return f"{number_word(mebibytes / 1024)} GiB" if mebibytes >= 10_240 else f"{number_word(mebibytes)} MiB"


def number_word(number: float) -> str:
    """Three digits, without an exponent.

    >>> [number_word(n) for n in (0.0123, 1.0, 12.34, 567.8, 12345.6)]
    ['0.0123', '1.00', '12.3', '568', '12346']
    """
    if number >= 100 or number == 0:
        return f"{number:.0f}"
    decimals = 1 if number >= 10 else 2 if number >= 1 else 3
    return f"{number:.{decimals}f}" if number >= 0.1 else f"{number:.3g}"


def verdict_words(verdict: Verdict) -> str:
    """One target with what was seen and what it asks for.

    >>> verdict_words(Verdict("R1", "at most 1.1 of a copy", True, 0.95, 1.1, "x", False))
    'R1 holds: at most 1.1 of a copy (0.950x, at most 1.10x)'
    """
    outcome = "not measured" if verdict.value is None else OUTCOMES[verdict.holds]
    return f"{verdict.code} {outcome}: {seen_words(verdict)}"


def seen_words(verdict: Verdict) -> str:
    """The sentence of a target with what was seen and what it asks for; both numbers where they decide nothing.

    >>> unclear = "disturbed: run again on a quiet machine"
    >>> seen_words(Verdict("R1", "at most 1.1 of a copy", None, 1.6, 1.1, "x", False, unclear, 1.0))
    'at most 1.1 of a copy (1.60x by medians, 1.00x by minima, at most 1.10x; disturbed: run again on a quiet machine)'
    """
    if verdict.value is None:
        return f"{verdict.sentence} ({verdict.why})"
    side = "at least" if verdict.at_least else "at most"
    seen, bound = _with_unit(verdict.value, verdict), _with_unit(verdict.bound, verdict)
    if verdict.holds is None and verdict.least is not None:
        by_minima = _with_unit(verdict.least, verdict)
        return f"{verdict.sentence} ({seen} by medians, {by_minima} by minima, {side} {bound}; {verdict.why})"
    return f"{verdict.sentence} ({seen}, {side} {bound})"


def _with_unit(number: float, verdict: Verdict) -> str:
    if verdict.unit == "s":
        return seconds_word(number)
    if verdict.unit == "":
        return f"{number:.2e}"
    return f"{number_word(number)}{' ' if verdict.unit == 'MiB' else ''}{verdict.unit}"
