"""One cause is told once, in every form of the report: headline, line, fix, and what it was seen by."""

import json
from pathlib import Path

import pytest

from gnomon.report.github import render_github
from gnomon.report.html import render_html
from gnomon.report.reading import groups_worst_first, verdict
from gnomon.report.text import render_text
from tests.helpers.joined_report import FIX, HEADLINE, joined_report

TEXT = f"""\
gnomon: model
Faults found: 2 errors and 1 warning in 3 checks, 2 of them by 1 cause.
Note: a smaller twin of the model was run

Findings
  error: {HEADLINE}
    in        somewhere/model.py:12
    fix       {FIX}
    seen as   PE209 low-precision-frequencies, rotary.inv_freq: stored in
              bfloat16
              PE307 rotation-against-formula, layers.*.attention: frequencies
              differ by 0.4 %

  warning PE207 duplicated-rows
    where     embeddings
    found     rows 3 and 4 are equal
    fix       draw them anew

3 failed, 0 crashed, 0 passed, 0 not applicable"""


def test_the_text_tells_the_cause_before_what_stands_alone() -> None:
    assert render_text(joined_report()) == TEXT


def test_every_finding_is_in_one_group() -> None:
    groups = groups_worst_first(joined_report())
    assert [[item.check.code for item in group.members] for group in groups] == [["PE209", "PE307"], ["PE207"]]


def test_the_verdict_counts_findings_and_causes() -> None:
    assert verdict(joined_report()).sentence == "2 errors and 1 warning in 3 checks, 2 of them by 1 cause."


def test_the_json_keeps_every_finding_and_says_what_joins_them() -> None:
    data = json.loads(joined_report().to_json())
    [cause] = data["causes"]
    assert (cause["headline"], cause["fix"]) == (HEADLINE, FIX)
    assert cause["findings"] == [
        {"code": "PE209", "where": "rotary.inv_freq"},
        {"code": "PE307", "where": "layers.*.attention"},
    ]
    assert data["checks"][0]["findings"][0]["location"] == {"file": "somewhere/model.py", "line": 12}
    assert "location" not in data["checks"][1]["findings"][0]
    assert data["notes"] == ["a smaller twin of the model was run"]


def test_github_shows_one_annotation_at_the_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    lines = render_github(joined_report(str(tmp_path / "model.py"))).split("\n")
    assert len(lines) == 3
    head, message = lines[0].split("::")[1:]
    assert head == "error file=model.py,line=12,title=PE209%2C PE307 frequencies-in-half-precision"
    assert message.startswith(HEADLINE + "%0A")
    assert message.endswith("Fix: " + FIX)


def test_github_names_no_file_outside_the_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert "file=" not in render_github(joined_report("/elsewhere/model.py"))


def test_the_page_leads_with_the_cause_and_links_to_its_checks() -> None:
    page = render_html(joined_report())
    verdict_section = page[page.index('aria-label="Verdict"') : page.index('aria-labelledby="encodings"')]
    for words in (HEADLINE, FIX, 'href="#check-PE209"', 'href="#check-PE307"', "a smaller twin of the model was run"):
        assert words in verdict_section
    assert verdict_section.index(HEADLINE) < verdict_section.index("PE207")
