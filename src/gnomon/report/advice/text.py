"""Advice as text for a terminal or a log."""

from collections.abc import Iterator
from dataclasses import dataclass

from gnomon.report.advice.document import Advice, Comparison, Cost, Fired, Recommendation
from gnomon.report.reading import pairs, plural
from gnomon.report.wrapping import wrap

SHOWN = 3  #: recommendations written in full; the others get a line
LABEL = 10  #: columns of the word before a field
_BOLD, _FAINT = "1", "2"
_UNITS = ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"))


def render_advice(advice: Advice, *, explain: bool = False, color: bool = False, width: int = 80) -> str:
    """The advice for a reader: what was asked and assumed, recommendations best first, the article's table beside them.

    `explain` adds the rules that fired, in order. No line is wider than `width`; colours (ANSI) only when asked for.
    """
    page = _Page(color, width)
    whole, brief = advice.recommendations[:SHOWN], advice.recommendations[SHOWN:]
    blocks = [
        list(page.head(advice)),
        *([*page.recommendation(rank, it)] for rank, it in enumerate(whole, 1)),
        page.section(
            "Further down", [line for rank, it in enumerate(brief, SHOWN + 1) for line in page.brief(rank, it)]
        ),
        page.section(
            "Ruled out", [line for it in advice.ruled_out for line in page.item(f"{it.name}: {it.why} [{it.rule}]")]
        ),
        page.section("The article's table", [line for it in advice.article for line in page.compared(it)]),
        page.section("Rules that fired", [line for it in advice.fired for line in page.fired(it)] if explain else []),
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block)


def size(cost: Cost) -> str:
    """A price in the largest unit that it fills; a number of parameters as it is.

    >>> size(Cost("table", 3 * 2**20, "bytes", "")), size(Cost("parameters", 12_800, "parameters", ""))
    ('3.0 MiB', '12,800')
    """
    if cost.unit == "bytes":
        for step, name in _UNITS:
            if cost.value >= step:
                return f"{cost.value / step:.1f} {name}"
    return f"{cost.value:,} bytes" if cost.unit == "bytes" else f"{cost.value:,}"


def call(recommendation: Recommendation) -> str:
    """The Python that builds it.

    >>> call(Recommendation("alibi", "alibi", "", {"num_heads": 8}))
    "build('alibi', num_heads=8)"
    """
    words = [repr(recommendation.encoding), *(f"{key}={value!r}" for key, value in recommendation.options.items())]
    return f"build({', '.join(words)})"


@dataclass(frozen=True)
class _Page:
    """Lines of one width, painted or not; text is wrapped first and painted after."""

    color: bool
    width: int

    def head(self, advice: Advice) -> Iterator[str]:
        yield from wrap(f"{'gnomon ' + advice.gnomon if advice.gnomon else 'gnomon'}: advice", self.width)
        yield from wrap(f"For: {pairs(advice.facts)}", self.width, rest="     ")
        for assumption in advice.assumptions:
            yield from wrap(f"Assumed: {assumption}", self.width, rest="         ")

    def recommendation(self, rank: int, it: Recommendation) -> Iterator[str]:
        line = f"{rank}. {it.name}, {plural(it.total, 'point')}: {it.title}"
        yield from (self._paint(part, _BOLD) for part in wrap(line, self.width, rest="   "))
        yield from self._fields("build", [call(it)])
        yield from self._fields("numbers", [pairs(it.numbers)] if it.numbers else [])
        yield from self._fields("points", [f"{given.points:+d} {given.why} [{given.rule}]" for given in it.points])
        yield from self._fields("do", list(it.steps))
        yield from self._fields("costs", [f"{cost.name}: {size(cost)} ({cost.how})" for cost in it.costs])
        yield from self._fields("watch", [f"{risk.check}: {risk.message}" for risk in it.risks])
        yield from self._fields("evidence", [f"{e.kind}: {e.statement} ({e.source})" for e in it.evidence])

    def brief(self, rank: int, it: Recommendation) -> list[str]:
        return self.item(f"{rank}. {it.name}, {plural(it.total, 'point')}: {call(it)}")

    def compared(self, it: Comparison) -> Iterator[str]:
        yield from self.item(f"{it.row}: the article says {it.says}; advised here: {it.advised}")
        yield from self._fields("same" if it.agrees else "differs", [it.why])

    def fired(self, it: Fired) -> Iterator[str]:
        yield from self.item(f"{it.rule}: {it.summary}")
        yield from self._fields("read", [pairs(it.facts) or "nothing"])
        yield from self._fields("changed", list(it.changes))
        yield from self._fields("source", [it.source])

    def section(self, heading: str, lines: list[str]) -> list[str]:
        return [self._paint(heading, _BOLD), *lines] if lines else []

    def item(self, text: str) -> list[str]:
        return wrap(text, self.width, first="  ", rest="      ")

    def _fields(self, label: str, texts: list[str]) -> Iterator[str]:
        """A label before the first of some texts, each of which starts a line of its own."""
        start = " " * 3
        for text in texts:
            first, *rest = wrap(text, self.width, first=f"{start}{label:<{LABEL}}", rest=" " * (LABEL + 5))
            cut = len(start) + LABEL
            yield self._paint(first[:cut], _FAINT) + first[cut:]
            yield from rest
            label = ""

    def _paint(self, text: str, code: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.color and text.strip() else text
