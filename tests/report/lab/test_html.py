"""The page of a study as text: self-contained, escaped, everything reachable, written whole."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from gnomon.errors import GnomonError
from gnomon.report.lab.html import render_html, write_html
from gnomon.report.lab.study import Study
from tests.helpers.hostile_report import HOSTILE
from tests.helpers.made_up_study import COMMAND, made_up_study


def tags(page: str) -> list[str]:
    """The names of all start tags outside of scripts."""
    body = re.sub(r"<script.*?</script>", "<script>", page, flags=re.DOTALL)
    return re.findall(r"<([a-z]\w*)", body)


def words(page: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))


def plain(word: str = "") -> Study:
    return replace(made_up_study(word), figures=())


def test_without_figures_the_page_is_small_and_needs_no_plotly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gnomon.plots.webpage.plotly_source", lambda: pytest.fail("plotly was asked for"))
    assert len(render_html(plain())) < 60_000


def test_the_page_carries_its_figures_and_names_no_address() -> None:
    page = render_html(made_up_study())
    assert page.count("* plotly.js v") == 1
    outside = re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL)
    assert set(re.findall(r'(?:src|href|action)="([^"#]*)', outside)) <= {"", "data:,"}
    assert "default-src &#39;none&#39;" in outside


def test_hostile_names_add_no_element() -> None:
    assert tags(render_html(plain(HOSTILE))) == tags(render_html(plain("tame")))
    assert "<img" not in render_html(made_up_study(HOSTILE)).split("<script>")[0]


def test_every_seed_of_every_number_is_in_the_page() -> None:
    page = words(render_html(plain()))
    for number in ("1.25", "1.26", "1.27", "1.12", "1.14", "1.15", "1.50", "1.51", "1.52"):
        assert number in page
    assert page.count("Every seed") == 2


def test_judgements_come_first_with_their_outcome_numbers_and_source() -> None:
    page = words(render_html(plain()))
    places = [
        page.index(said) for said in ("expectations, 1 fails", "Holds ALiBi holds", "Tables Mean ±", "Comparisons Each")
    ]
    assert places == sorted(places)
    assert "exact match 0.91 at length 64, 0.98 of that at 16 Source: Press et al. 2022" in page
    for outcome in ("Fails Plain rotary", "No difference seen The losses", "Not measured A table"):
        assert outcome in page


def test_the_study_and_each_run_have_their_command() -> None:
    page = render_html(plain())
    commands = re.findall(r"<pre><code>(.*?)</code></pre>", page)
    study, one = plain(), "gnomon lab repeat extrapolation {} --seed {} --quick"
    assert commands == [
        *(one.format(failure.run.key, failure.run.seed) for failure in study.failures),
        COMMAND,
        *(one.format(result.run.key, result.run.seed) for result in study.results),
    ]


def test_failures_environment_notes_data_and_sources_are_shown() -> None:
    page = words(render_html(plain()))
    for said in ("copy, sandwich, seed 0", "The loss was not finite", "torch 2.13.0", "a note", "checksum 0f3a"):
        assert said in page
    assert "arXiv:2305.19466" in page


def test_only_a_ranking_marks_the_best() -> None:
    assert render_html(plain()).count('class="best"') == 2
    assert 'class="best"' not in render_html(replace(plain(), rankings=()))


def test_an_empty_study_is_a_page_too() -> None:
    page = render_html(Study("copy", "Copying", "Which?", "None.", "quick", "gnomon lab copy"))
    assert "Nothing was expected." in page
    assert page.rstrip().endswith("</html>")


def test_the_page_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_html(plain("\udc80"), tmp_path / "report.html")
    assert "\\udc80" in (tmp_path / "report.html").read_text(encoding="utf-8")
    monkeypatch.setattr("gnomon.report.lab.html.render_html", lambda _: pytest.fail("rendered before the check"))
    with pytest.raises(GnomonError, match="does not exist"):
        write_html(plain(), tmp_path / "missing" / "report.html")
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]
