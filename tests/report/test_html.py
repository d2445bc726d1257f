"""The page as text: self-contained, escaped, small without figures, written whole."""

import base64
import hashlib
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from gnomon.errors import GnomonError
from gnomon.report.document import CheckResult, Finding, Report
from gnomon.report.html import render_html, write_html
from tests.helpers.hostile_report import HOSTILE, report_of
from tests.helpers.sample_report import sample_report


class Elements(HTMLParser):
    """Every start tag with its attributes, and the text of each script."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[tuple[str | None, str]] = []
        self._script: str | bool | None = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._script = dict(attrs).get("type") if tag == "script" else False

    def handle_endtag(self, tag: str) -> None:
        self._script = False

    def handle_data(self, data: str) -> None:
        if self._script is not False:
            self.scripts.append((self._script if isinstance(self._script, str) else None, data))


def test_without_figures_the_page_is_small_and_needs_no_plotly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gnomon.plots.webpage.plotly_source", lambda: pytest.fail("plotly was asked for"))
    page = render_html(sample_report(figures=()))
    assert len(page) < 60_000
    assert "plotly" not in page.lower()


def test_plotly_is_inlined_once() -> None:
    assert render_html(sample_report()).count("* plotly.js v") == 1


def test_nothing_in_the_page_names_another_address() -> None:
    for tag, attributes in Elements(render_html(sample_report())).tags:
        for name in ("src", "href", "action", "data", "srcset", "xlink:href"):
            address = attributes.get(name) or "#"
            assert address.startswith("#") or address == "data:,", (tag, attributes)


def test_the_policy_forbids_the_network_and_names_exactly_the_scripts_of_the_page() -> None:
    elements = Elements(render_html(sample_report()))
    policy = next(a["content"] for t, a in elements.tags if a.get("http-equiv") == "Content-Security-Policy") or ""
    assert policy.startswith("default-src 'none';")
    scripts = [text for kind, text in elements.scripts if kind is None]
    hashes = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in scripts]
    assert re.findall(r"'sha256-([^']+)'", policy) == hashes
    assert len(hashes) == 3
    assert "unsafe-eval" not in policy
    assert "http" not in policy


def test_hostile_strings_add_no_element_and_no_script() -> None:
    hostile, tame = ([t for t, _ in Elements(render_html(report_of(w))).tags if t != "wbr"] for w in (HOSTILE, "tame"))
    assert hostile == tame
    assert "img" not in hostile


def test_every_check_shows_status_number_threshold_and_reason() -> None:
    page = re.sub(r"<[^>]+>", " ", render_html(sample_report(figures=())))
    page = re.sub(r"\s+", " ", page)
    for check in sample_report(figures=()).checks:
        assert f"{check.code} {check.name}" in page
        for measured in check.measured:
            assert measured.why in page
    assert "largest error 5.9e-08 threshold 1e-05 Float32 rounding stays below 1e-6." in page
    assert "Fix Multiply the word embeddings by sqrt(384), or divide the table." in page


def test_an_empty_report_is_a_page_too() -> None:
    page = render_html(Report("x"))
    assert "Nothing was checked" in page
    assert "No position encoding was found." in page


def test_a_long_list_of_findings_is_cut_in_the_verdict_only() -> None:
    many = tuple(Finding(f"layer {index}", "m", "f") for index in range(11))
    page = render_html(Report("x", checks=(CheckResult("PE101", "n", "error", "failed", findings=many),)))
    assert page.count('href="#check-PE101"') == 8
    assert "and 3 more under" in page
    assert page.count('class="finding error"') == 11


def test_the_page_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sample_report(figures=()).to_html(str(tmp_path / "report.html"))
    assert (tmp_path / "report.html").read_text(encoding="utf-8").endswith("</html>")
    monkeypatch.setattr("gnomon.report.html.render_html", lambda _: pytest.fail("rendered before the path was checked"))
    with pytest.raises(GnomonError, match="does not exist"):
        write_html(sample_report(figures=()), tmp_path / "missing" / "report.html")
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def test_a_target_that_is_no_utf8_can_be_written(tmp_path: Path) -> None:
    write_html(replace(sample_report(figures=()), target="model\udc80"), tmp_path / "report.html")
    assert "model\\udc80" in (tmp_path / "report.html").read_text(encoding="utf-8")
