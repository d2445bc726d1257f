"""docs/article.md has the claims of the code, the numbers of the newest results, and examples that run."""

import json
import re

from gnomon.lab.claims import all_claims
from gnomon.report.lab.claims import ClaimsReport
from scripts.claims_docs import PAGE, newest, written


def test_the_tables_of_the_page_are_those_of_the_code_and_of_the_results() -> None:
    """`python -m scripts.claims_docs` writes them."""
    page = PAGE.read_text(encoding="utf-8")
    assert written(page) == page


def test_the_results_speak_of_the_claims_as_they_are_written_now() -> None:
    report = ClaimsReport.from_dict(json.loads(newest().read_text(encoding="utf-8")))
    told = {claim.number: (claim.section, claim.statement, claim.truth, claim.private) for claim in report.claims}
    assert told == {c.number: (c.section, c.statement, c.truth, c.private) for c in all_claims()}


def test_each_claim_can_be_linked_to() -> None:
    anchors = re.findall(r'<a id="claim-(\d+)"></a>', PAGE.read_text(encoding="utf-8"))
    assert anchors == [str(number) for number in range(1, 44)]


def test_every_link_is_a_file() -> None:
    targets = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", PAGE.read_text(encoding="utf-8"))
    assert len(targets) > 40
    assert [target for target in targets if not (PAGE.parent / target).is_file()] == []


def test_results_lie_beside_their_markdown() -> None:
    assert newest().with_suffix(".md").is_file()
