"""A report as one self-contained page that opens offline."""

import os
from pathlib import Path
from typing import Any

from gnomon.plots.files import check_writable, write_whole
from gnomon.plots.webpage import render_page
from gnomon.report import reading
from gnomon.report.document import STATUSES, Report

TEMPLATE = Path(__file__).parent / "page" / "report.html"


def render_html(report: Report) -> str:
    """The page: verdict, checks that can be filtered, encodings, figures. It makes no request to any address.

    Raises GnomonError when the report has figures and plotly is not installed.
    """
    context: dict[str, Any] = {
        "page_title": f"gnomon: {report.target}",
        "report": report,
        "verdict": reading.verdict(report),
        "groups": reading.groups_worst_first(report),
        "checks": reading.checks_in_order(report),
        "statuses": [(status, reading.STATUS_WORDS[status], report.summary[status]) for status in STATUSES],
        "number": reading.number,
        "pairs": reading.pairs,
        "seconds": sum(check.seconds for check in report.checks),
    }
    return render_page(TEMPLATE, report.figures, context)


def write_html(report: Report, path: str | os.PathLike[str]) -> None:
    """Write the page whole or not at all; raises GnomonError for a path that cannot be written."""
    check_writable(path)
    write_whole(path, render_html(report).encode(errors="backslashreplace"))
