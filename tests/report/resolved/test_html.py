"""The page of a resolution: every stack has a square, links lead somewhere, nothing is fetched."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from gnomon.errors import GnomonError
from gnomon.report.resolved.html import render_html, write_page
from gnomon.report.resolved.layers import Decided
from tests.helpers.made_up_resolution import made_up_resolution


def test_every_square_leads_to_a_place_on_the_page() -> None:
    page = render_html([made_up_resolution(), made_up_resolution(target="B model")])
    links = re.findall(r'href="#([^"]+\.[^"]+)"', page)
    assert len(links) == len(set(links)) == 16
    assert set(links) <= set(re.findall(r'id="([^"]+)"', page))


def test_what_was_found_stands_there_once() -> None:
    page = render_html([made_up_resolution()])
    for text in ("early ignores truncate.", "--flag", "the ends are always rounded", "PE106", "One stack is equal."):
        assert page.count(text) == 1, text
    assert "KeyError: &#39;factor&#39;" in page
    assert page.count("<polyline") == 2  # early and late turn otherwise, hot and narrow have no curve


def test_the_page_names_no_other_place() -> None:
    page = render_html([made_up_resolution()])
    assert not re.search(r"(src|href)=[\"'](?!#|data:)", page)
    assert "default-src &#39;none&#39;; script-src &#39;sha256-" in page


def test_words_between_backticks_are_code_and_values_are_json() -> None:
    found = made_up_resolution()
    told = replace(found.column("early"), sentences=("it ignores `a: <b>` and `c`",), used=(Decided("x", False, "x"),))
    page = render_html([replace(found, columns=(told,))])
    assert "it ignores <code>a: &lt;b&gt;</code> and <code>c</code>" in page
    assert "x <b>false</b>" in page


def test_a_hostile_name_stays_text() -> None:
    page = render_html([made_up_resolution("<img src=x onerror=alert(1)>")])
    assert "<img" not in page
    assert "&lt;img src=x" in page


def test_a_page_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    with pytest.raises(GnomonError, match="does not exist"):
        write_page([made_up_resolution()], tmp_path / "no" / "page.html")
    write_page([made_up_resolution()], tmp_path / "page.html", title="A title")
    assert "<h1>A title</h1>" in (tmp_path / "page.html").read_text(encoding="utf-8")
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]
