"""How checks are run: what each end of a check becomes, and which checks are chosen."""

from collections.abc import Iterator

import pytest

from gnomon.adapters.subject import Absent, MissingEvidence, Subject
from gnomon.doctor import run
from gnomon.doctor.check import Body, Check, registry
from gnomon.doctor.runner import chosen, run_all, run_check
from gnomon.errors import GnomonError, UnknownNameError
from gnomon.report.document import Finding, Measured, Severity

SUBJECT = Subject("nothing", config={"hidden_size": 8}, tensors=Absent("it is only a config"))
FAULT = Finding("here", "it is bent", "straighten it")


def made(body: Body, code: str = "PE299", severity: Severity = "warning") -> Check:
    return Check(code, body.__name__, severity, ("config",), body)


def clean(subject: Subject) -> Iterator[Finding | Measured]:
    """All is well."""
    yield Measured("width", subject.config["hidden_size"], 8, "it is")


def bent(_: Subject) -> Iterator[Finding | Measured]:
    yield Measured("bends", 1, 0)
    yield FAULT


def needs_tensors(subject: Subject) -> Iterator[Finding | Measured]:
    yield Measured("tensors", len(subject.tensors.infos()))


def breaks(_: Subject) -> Iterator[Finding | Measured]:
    yield Measured("before", 1)
    yield FAULT
    raise ZeroDivisionError("a number fell out")


def runs_dry(subject: Subject) -> Iterator[Finding | Measured]:
    yield Measured("before", 1)
    yield FAULT
    raise MissingEvidence("the second half is missing")


def test_a_check_that_finds_nothing_passes_with_what_it_measured() -> None:
    result = run_check(made(clean), SUBJECT)
    assert (result.status, result.severity, result.detail, result.findings) == ("passed", "warning", "", ())
    assert result.measured == (Measured("width", 8, 8, "it is"),)
    assert (result.code, result.name, result.title) == ("PE299", "clean", "All is well.")
    assert result.seconds >= 0.0


def test_a_check_that_finds_something_fails() -> None:
    result = run_check(made(bent), SUBJECT)
    assert (result.status, result.findings, len(result.measured)) == ("failed", (FAULT,), 1)


def test_missing_evidence_is_not_applicable_and_named() -> None:
    result = run_check(made(needs_tensors), SUBJECT)
    assert (result.status, result.detail, result.measured) == ("not-applicable", "it is only a config", ())


def test_findings_before_the_evidence_ran_out_still_stand() -> None:
    result = run_check(made(runs_dry), SUBJECT)
    assert (result.status, result.findings) == ("failed", (FAULT,))
    assert result.detail == "the second half is missing"
    assert result.measured == (Measured("before", 1),)


def test_a_crash_is_a_result_with_its_trace() -> None:
    result = run_check(made(breaks), SUBJECT)
    assert result.status == "crashed"
    assert "ZeroDivisionError: a number fell out" in result.detail
    assert "in breaks" in result.detail


def test_a_crash_keeps_the_rest_running_in_the_order_of_the_codes() -> None:
    checks = [made(bent, "PE203"), made(breaks, "PE201"), made(clean, "PE202"), made(needs_tensors, "PE101")]
    results = run_all(checks, SUBJECT)
    assert [(r.code, r.status) for r in results] == [
        ("PE101", "not-applicable"),
        ("PE201", "crashed"),
        ("PE202", "passed"),
        ("PE203", "failed"),
    ]


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit])
def test_a_user_who_interrupts_is_obeyed(stop: type[BaseException]) -> None:
    def interrupted(_: Subject) -> Iterator[Finding | Measured]:
        yield FAULT
        raise stop

    with pytest.raises(stop):
        run_check(made(interrupted), SUBJECT)


@pytest.mark.parametrize(
    ("found", "worst"),
    [
        ((None,), "warning"),
        (("note",), "note"),
        (("note", None), "warning"),
        (("note", "error", None), "error"),
        ((), "warning"),
    ],
)
def test_the_severity_of_a_result_is_that_of_its_worst_finding(found: tuple[Severity | None, ...], worst: str) -> None:
    def graded(_: Subject) -> Iterator[Finding | Measured]:
        for severity in found:
            yield Finding("here", "bent", "straighten", severity=severity)

    assert run_check(made(graded), SUBJECT).severity == worst


def test_progress_is_told_before_each_check_and_once_at_the_end() -> None:
    seen: list[tuple[str, str, int, int]] = []
    run_all([made(clean, "PE202"), made(breaks, "PE201")], SUBJECT, lambda *step: seen.append(step))
    assert seen == [("PE201", "breaks", 0, 2), ("PE202", "clean", 1, 2), ("", "done", 2, 2)]


def test_all_checks_are_chosen_when_nothing_is_said() -> None:
    assert [check.code for check in chosen(None, None)] == registry.names()


def test_prefixes_select_and_ignore() -> None:
    codes = [check.code for check in chosen(["PE1", "PE202"], ["PE103"])]
    assert codes == [*sorted({c for c in registry.names() if c.startswith("PE1")} - {"PE103"}), "PE202"]
    assert not [c for c in chosen(None, ["PE1", "PE2"]) if c.code < "PE3"]


@pytest.mark.parametrize("spelling", ["PE101,PE202", " pe101 , PE202,", ["PE101", "PE202"], iter(["PE202", "PE101"])])
def test_prefixes_may_be_one_string_with_commas(spelling: str | list[str]) -> None:
    assert [check.code for check in chosen(spelling, None)] == ["PE101", "PE202"]


@pytest.mark.parametrize(
    ("select", "ignore"), [(["PE101"], ["PE1"]), ([], None), ("", None), (",", None), (None, "PE")]
)
def test_a_choice_that_leaves_no_check_is_an_error(
    select: str | list[str] | None, ignore: str | list[str] | None
) -> None:
    with pytest.raises(GnomonError, match="leave no check"):
        chosen(select, ignore)


def test_ignoring_wins_over_selecting() -> None:
    assert [check.code for check in chosen(["PE101", "PE102"], ["PE101"])] == ["PE102"]


@pytest.mark.parametrize(("select", "ignore"), [(["PE999"], None), (None, ["PE999"]), (["PE101", "PE999"], None)])
def test_a_prefix_of_no_check_is_an_error_that_says_where_to_look(
    select: list[str] | None, ignore: list[str] | None
) -> None:
    with pytest.raises(GnomonError, match=r"No check's code starts with 'PE999'; `gnomon list checks` shows"):
        chosen(select, ignore)


def test_one_check_is_run_by_its_code() -> None:
    assert run("PE101", SUBJECT).code == "PE101"
    with pytest.raises(UnknownNameError, match="No check is called 'PE100'"):
        run("PE100", SUBJECT)


def test_evidence_is_measured_once_for_all_checks() -> None:
    calls: list[str] = []

    def weigh(_: Subject) -> int:
        calls.append("weighed")
        return 7

    def counted(subject: Subject) -> Iterator[Finding | Measured]:
        yield Measured("weight", subject.get("weight", weigh))

    results = run_all([made(counted, "PE201"), made(counted, "PE202")], Subject("once"))
    assert [r.measured[0].value for r in results] == [7, 7]
    assert calls == ["weighed"]
