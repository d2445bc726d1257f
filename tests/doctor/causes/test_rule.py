"""Joining: a root explains what follows from it, once; what is said twice in the same words is one fault."""

import pytest

from gnomon.doctor.causes.rule import Rule, join
from gnomon.report.document import CheckResult, Finding

RULES = (
    Rule("zeros", "PE206", "the table is zero", {"PE302": "", "PE306": "never arrive"}),
    Rule("cast", "PE209", r"stored in (\w+)", {"PE307": "frequencies"}, headline=r"frequencies were cast to \1"),
)


def failed(code: str, *messages: str) -> CheckResult:
    found = tuple(Finding(f"place {i}", message, f"fix of {code}") for i, message in enumerate(messages))
    return CheckResult(code, "a-check", "error", "failed", findings=found)


def test_a_root_takes_what_it_explains_and_gives_its_own_fix() -> None:
    [cause] = join([failed("PE206", "the table is zero: alike"), failed("PE302", "order is lost")], RULES)
    assert (cause.name, cause.headline, cause.fix) == ("zeros", "the table is zero: alike", "fix of PE206")
    assert cause.findings == (("PE206", 0), ("PE302", 0))


def test_the_headline_is_filled_from_what_the_root_says() -> None:
    [cause] = join([failed("PE209", "stored in bfloat16"), failed("PE307", "the frequencies differ")], RULES)
    assert cause.headline == "frequencies were cast to bfloat16"


@pytest.mark.parametrize(
    "checks",
    [
        [failed("PE206", "the table is zero")],
        [failed("PE302", "order is lost")],
        [failed("PE206", "row 3 is zero"), failed("PE302", "order is lost")],
        [failed("PE206", "the table is zero"), failed("PE306", "added twice")],
        [failed("PE206", "the table is zero", "the table is zero")],
    ],
    ids=["a root alone", "no root", "another message of the root", "another message of the rest", "one check alone"],
)
def test_nothing_is_joined_without_a_root_and_something_that_follows(checks: list[CheckResult]) -> None:
    assert join(checks, RULES) == ()


def test_a_finding_has_one_cause_and_the_first_rule_wins() -> None:
    both = (*RULES, Rule("other", "PE302", "", {"PE206": "", "PE307": ""}))
    causes = join([failed("PE206", "the table is zero"), failed("PE302", "x"), failed("PE307", "y")], both)
    assert [(c.name, c.findings) for c in causes] == [("zeros", (("PE206", 0), ("PE302", 0)))]


def test_only_the_findings_that_fit_are_taken_from_a_check() -> None:
    [cause] = join([failed("PE209", "stored in float16"), failed("PE307", "pairs", "frequencies")], RULES)
    assert cause.findings == (("PE209", 0), ("PE307", 1))


def test_the_same_words_of_two_checks_are_one_fault() -> None:
    [cause] = join([failed("PE203", "row 0 holds position 1"), failed("PE309", "row 0 holds position 1", "z")], RULES)
    assert (cause.headline, cause.findings) == ("row 0 holds position 1", (("PE203", 0), ("PE309", 0)))


def test_checks_that_did_not_fail_have_no_cause() -> None:
    passed = CheckResult("PE302", "a-check", "error", "passed")
    assert join([failed("PE206", "the table is zero"), passed], RULES) == ()
