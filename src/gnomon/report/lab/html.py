"""A study as one self-contained page that opens offline."""

import os
from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

from gnomon.plots.files import check_writable, write_whole
from gnomon.plots.webpage import render_page
from gnomon.report.lab.repeat import run_command
from gnomon.report.lab.study import Outcome, Study
from gnomon.report.lab.tables import tables
from gnomon.report.lab.words import CORRECTED, NOT_CORRECTED, compared, duration, notes, summary, verdict, written
from gnomon.report.reading import number, pairs

PAGE = Path(__file__).parent.parent / "page"
#: The look of an outcome; the word stands beside it.
BADGES: Mapping[Outcome, str] = {
    "holds": "passed",
    "fails": "failed",
    "no difference seen": "even",
    "not measured": "not-applicable",
}
TABLE_KEY = (
    "Mean ± standard deviation over seeds; - where nothing could be measured. A star and bold print mark the best and "
    "those that no difference to it is seen of, and only where another is worse."
)


def render_html(study: Study) -> str:
    """The page: judgements first, then curves, tables, comparisons, failures, commands. It makes no request.

    Raises GnomonError when the study has figures and plotly is not installed.
    """
    context: dict[str, Any] = {
        "page_title": f"gnomon lab {study.suite}: {study.title}",
        "study": study,
        "tone": _tone(study),
        "verdict": verdict(study),
        "summary": summary(study),
        "sections": list(_sections(study)),
        "badges": BADGES,
        "tables": tables(study),
        "table_key": TABLE_KEY,
        "comparisons": _comparisons(study),
        "comparison_key": f"{NOT_CORRECTED} {CORRECTED}",
        "facts": list(_facts(study)),
        "notes": notes(study),
        "run_command": lambda run: run_command(study, run),
        "pairs": pairs,
        "written": written,
        "duration": duration,
    }
    return render_page(PAGE / "study.html", study.figures, context, sheets=[PAGE / "report.css"])


def write_html(study: Study, path: str | os.PathLike[str]) -> None:
    """Write the page whole or not at all; raises GnomonError for a path that cannot be written."""
    check_writable(path)
    write_whole(path, render_html(study).encode(errors="backslashreplace"))


def _tone(study: Study) -> str:
    outcomes = {judgement.outcome for judgement in study.judgements}
    if "fails" in outcomes or study.failures:
        return "caution"
    return "good" if outcomes == {"holds"} else "neutral"


def _sections(study: Study) -> Iterator[tuple[str, str]]:
    """What the page has, for the links at its top."""
    if study.judgements:
        yield "expectations", "Expectations"
    if study.figures:
        yield "curves", "Curves"
    if study.results:
        yield "tables", "Tables"
    if study.comparisons:
        yield "comparisons", "Comparisons"
    if study.failures:
        yield "failures", "Failures"
    yield "repeat", "To repeat it"
    yield "made", "How it was made"


def _comparisons(study: Study) -> list[tuple[str, list[tuple[bool, str]]]]:
    grouped = groupby(study.comparisons, key=lambda one: one.group)
    return [
        (group, [(one.decided, compared(one, study.info(one.measure))) for one in members])
        for group, members in grouped
    ]


def _facts(study: Study) -> Iterator[tuple[str, str]]:
    yield "seeds", ", ".join(str(seed) for seed in study.seeds) or "none"
    yield "time of all runs", duration(sum(result.seconds for result in study.results))
    for name, value in study.environment.items():
        yield name, number(value)
    for name, checksum in sorted({pair for result in study.results for pair in result.data.items()}):
        yield f"data: {name}", f"checksum {checksum}"
