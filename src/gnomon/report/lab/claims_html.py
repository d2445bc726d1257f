"""Claims of the article as one self-contained page that opens offline."""

import os
from collections.abc import Mapping
from typing import Any

from gnomon.plots.files import check_writable, write_whole
from gnomon.plots.webpage import render_page
from gnomon.report.lab.claims import ClaimsReport, Verdict
from gnomon.report.lab.html import PAGE
from gnomon.report.lab.words import duration, written_spread
from gnomon.report.reading import pairs, plural

#: The look of a verdict; the word stands beside it.
BADGES: Mapping[Verdict, str] = {
    "holds": "passed",
    "fails": "failed",
    "depends": "even",
    "not measurable here": "not-applicable",
    "not measured": "not-applicable",
}


def render_html(report: ClaimsReport) -> str:
    """The page: the counts, then a panel for each claim. It makes no request to any address."""
    context: dict[str, Any] = {
        "page_title": "gnomon lab claims",
        "report": report,
        "badges": BADGES,
        "counted": plural(len(report.claims), "claim"),
        "pairs": pairs,
        "duration": duration,
        "written_spread": written_spread,
    }
    return render_page(PAGE / "claims.html", (), context, sheets=[PAGE / "report.css", PAGE / "study.css"])


def write_html(report: ClaimsReport, path: str | os.PathLike[str]) -> None:
    """Write the page whole or not at all; raises GnomonError for a path that cannot be written."""
    check_writable(path)
    write_whole(path, render_html(report).encode(errors="backslashreplace"))
