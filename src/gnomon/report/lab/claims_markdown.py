"""Claims of the article as Markdown: a page to keep, and the table that docs/article.md shows."""

from collections.abc import Iterator

from gnomon.report.lab.claims import ClaimResult, ClaimsReport
from gnomon.report.reading import join, pairs


def render_markdown(report: ClaimsReport) -> str:
    """The whole report, with when and where it was made and the command that repeats it."""
    made = pairs(report.environment)
    seeds = f"Seeds {join([str(seed) for seed in report.seeds])}. " if report.seeds else ""
    lines = [
        f"# Claims of the article, measured on {report.date}",
        "",
        f"{report.summary}. {seeds}Repeat it with `{report.command}`.",
        "",
        *([f"Made with {made}.", ""] if made else []),
        *summary_table(report),
        *(line for claim in report.claims for line in _claim(claim)),
    ]
    return "\n".join(lines) + "\n"


def summary_table(report: ClaimsReport) -> Iterator[str]:
    """One row for each claim: number, verdict, what was measured."""
    yield from ("| # | verdict | measured here |", "|---|---|---|")
    for claim in report.claims:
        private = f" Not measurable here: {claim.private}." if claim.private else ""
        yield f"| {claim.number} | {claim.verdict} | {cell(claim.seen + private)} |"


def cell(text: str) -> str:
    """Text that cannot end a cell of a table.

    >>> cell("m |i - j|")
    'm \\\\|i - j\\\\|'
    """
    return text.replace("|", "\\|").replace("\n", " ")


def _claim(claim: ClaimResult) -> Iterator[str]:
    yield from ("", f"## {claim.number}. {claim.verdict}", "")
    yield from (f"The article (section {claim.section}): {claim.statement}", "")
    yield from (f"Known: {claim.truth}", "")
    yield f"Here: {claim.seen}"
    if claim.private:
        yield from ("", f"Not measurable here: {claim.private}.")
    if claim.numbers:
        yield from ("", "| number | mean | lowest seed | highest seed | seeds |", "|---|---|---|---|---|")
        for name, spread in claim.numbers.items():
            figures = " | ".join(f"{value:.4g}" for value in (spread.mean, spread.low, spread.high))
            yield f"| {cell(name)} | {figures} | {spread.seeds} |"
