"""The claims as a whole: all of them are there, and each says what a reader needs."""

import re
from pathlib import Path

import pytest

from gnomon.errors import GnomonError
from gnomon.lab.claims import Claim, Measured, NotMeasurable, OfSuite, all_claims
from gnomon.lab.suites import registry as suites
from tests.helpers.claims import measured_claim

DOCS = Path(__file__).parents[3] / "docs"
CLAIMS = all_claims()


def test_all_43_claims_are_there_in_order() -> None:
    assert [claim.number for claim in CLAIMS] == list(range(1, 44))


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: str(claim.number))
def test_each_claim_is_measured_or_says_why_not(claim: Claim) -> None:
    assert isinstance(claim, Measured | OfSuite | NotMeasurable)
    assert claim.statement.endswith(".")
    assert claim.truth.endswith(".")
    if isinstance(claim, NotMeasurable):
        assert claim.why.endswith(".")
    if isinstance(claim, OfSuite):
        assert claim.suite in suites


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: str(claim.number))
def test_each_link_leads_somewhere(claim: Claim) -> None:
    from gnomon.doctor.check import registry as checks

    assert set(re.findall(r"PE\w{3}", claim.gnomon)) <= set(checks.names())
    for page, anchor in re.findall(r"\]\(([^)#]*)#?([^)]*)\)", claim.gnomon):
        assert (DOCS / (page or "article.md")).is_file(), page
        assert page or anchor == "why-attention-is-blind-to-order"


def test_numbers_that_no_claim_has_are_an_error_that_names_them() -> None:
    with pytest.raises(GnomonError, match=r"numbered 1 to 43.*got 0, 99"):
        all_claims([5, 99, 0])


def test_claims_are_asked_for_in_any_order_and_each_once() -> None:
    assert [claim.number for claim in all_claims([18, 5, 18])] == [5, 18]


def test_a_claim_without_draws_is_run_once() -> None:
    assert not measured_claim(18).seeded
    assert measured_claim(28).seeded
