"""Claims of the article as text for a terminal or a log."""

from collections.abc import Iterator

from gnomon.report.lab.claims import PAGE, ClaimResult, ClaimsReport
from gnomon.report.lab.words import duration
from gnomon.report.reading import join, pairs, plural
from gnomon.report.wrapping import wrap

INDENT, LABEL = "    ", 10


def render_text(report: ClaimsReport, *, width: int = 80) -> str:
    """Claim by claim: the verdict with the article's statement, what was measured, what is known, where to read on.

    >>> print(render_text(ClaimsReport((), "direct", "gnomon lab claims --direct", "2026-01-31")))
    gnomon lab claims (direct), 2026-01-31: 0 claims of docs/article.md
    Nothing was asked for.
    <BLANKLINE>
    To repeat it
        gnomon lab claims --direct
    <BLANKLINE>
    runs of 0.0 s in all.
    """
    count = plural(len(report.claims), "claim")
    head = f"gnomon lab claims ({report.size}), {report.date}: {count} of {PAGE}"
    blocks = [
        [*wrap(head, width), *wrap(f"{report.summary or 'Nothing was asked for'}.", width)],
        *(list(_claim(claim, width)) for claim in report.claims),
        ["Environment", *wrap(pairs(report.environment), width, first=INDENT, rest=INDENT)]
        if report.environment
        else [],
        _section("To repeat it", report.command, width),
        wrap(_footer(report), width),
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block)


def _section(heading: str, text: str, width: int) -> list[str]:
    return [heading, *wrap(text, width, first=INDENT, rest=INDENT)] if text else []


def _claim(claim: ClaimResult, width: int) -> Iterator[str]:
    head = f"{claim.number} (§{claim.section}) {claim.verdict}: {claim.statement}"
    yield from wrap(head, width, rest=INDENT)
    label = "why" if not claim.numbers else "measured"
    yield from _field(label, claim.seen, width)
    yield from _field("known", claim.truth, width)
    if claim.private:
        yield from _field("private", f"Not measurable here: {claim.private}.", width)
    yield from _field("see", ", ".join((claim.page, *claim.links)), width)


def _field(label: str, text: str, width: int) -> Iterator[str]:
    yield from wrap(text, width, first=f"{INDENT}{label:<{LABEL}}", rest=" " * (len(INDENT) + LABEL))


def _footer(report: ClaimsReport) -> str:
    seeds = f"Seeds {join([str(seed) for seed in report.seeds])}, " if report.seeds else ""
    return f"{seeds}runs of {duration(report.seconds)} in all."
