"""Claims as plain data, as text, as Markdown, and as a page."""

import json

import pytest
from rich.cells import cell_len

from gnomon.report.lab.claims import VERDICTS, ClaimsReport
from gnomon.report.lab.claims_html import BADGES, render_html, write_html
from gnomon.report.lab.claims_markdown import render_markdown, summary_table
from gnomon.report.lab.claims_text import render_text
from tests.helpers.made_up_claims import made_up_claims

HOSTILE = "\x1b[31m</script><script>alert(1)</script>\n| cell"


def test_verdicts_are_counted_in_one_order() -> None:
    report = made_up_claims()
    assert report.counts == {"holds": 2, "fails": 1, "depends": 1, "not measurable here": 1}
    assert report.summary == "2 hold, 1 fails, 1 depends, 1 not measurable here"


def test_json_is_read_back_as_it_was_and_has_a_version() -> None:
    report = made_up_claims()
    fields = json.loads(report.to_json())
    assert fields["schema_version"] == 1
    assert set(fields["summary"]) == set(VERDICTS)
    assert fields["claims"][1]["links"] == ["docs/article.md#claim-13", "PE501", "PE212"]
    assert fields["claims"][1]["numbers"]["ratio | "] == {
        "mean": 0.5,
        "low": 0.25,
        "high": 0.75,
        "sd": 0.25,
        "seeds": 3,
    }
    assert ClaimsReport.from_dict(fields) == report


@pytest.mark.parametrize("width", [60, 80, 120])
def test_no_line_of_the_text_is_wider_than_asked(width: int) -> None:
    text = render_text(made_up_claims(" and so on, to a length that no terminal has" + HOSTILE), width=width)
    assert max(cell_len(line) for line in text.splitlines()) <= width
    assert "\x1b" not in text


def test_the_text_has_every_claim_with_what_was_measured_and_where_to_read_on() -> None:
    text = render_text(made_up_claims())
    assert "18 (§3.3) fails: The norm is 22.6." in text
    assert "    measured  16.0" in text
    assert "    why       Advice." in text
    assert "    private   Not measurable here: 10 to 15% faster." in text
    assert "    see       docs/article.md#claim-13, PE501, PE212" in text
    assert text.endswith("Seeds 0, 1 and 2, runs of 1 min 22 s in all.")


def test_each_row_of_the_table_is_one_line_of_three_cells() -> None:
    rows = list(summary_table(made_up_claims(HOSTILE)))
    assert len(rows) == 2 + 5
    assert all("\n" not in row for row in rows)
    assert all(row.replace("\\|", "").count("|") == 4 for row in rows)


def test_the_markdown_has_numbers_with_their_seeds() -> None:
    page = render_markdown(made_up_claims())
    assert "| norm | 16 | 16 | 16 | 1 |" in page
    assert "| ratio \\|  | 0.5 | 0.25 | 0.75 | 3 |" in page
    assert "Repeat it with `gnomon lab claims --quick`." in page


def test_the_page_shows_each_claim_and_runs_nothing_that_a_sentence_says(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    page = render_html(made_up_claims(HOSTILE))
    assert page.count('class="judgement"') == 5
    assert 'id="claim-13"' in page
    assert "<script>alert" not in page
    assert set(BADGES) == set(VERDICTS)
    path = tmp_path_factory.mktemp("page") / "claims.html"
    write_html(made_up_claims(), path)
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")
