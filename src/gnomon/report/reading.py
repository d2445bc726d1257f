"""What every renderer needs to know about a report: the verdict, what comes first, and how a number is written."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from gnomon.report.cause import Cause, Location
from gnomon.report.document import SEVERITIES, STATUSES, CheckResult, Finding, Measured, Report, Severity, Status

STATUS_WORDS: Mapping[Status, str] = {
    "failed": "failed",
    "crashed": "crashed",
    "passed": "passed",
    "not-applicable": "not applicable",
}


@dataclass(frozen=True)
class Reported:
    """One finding with the check that made it and the severity that counts."""

    check: CheckResult
    finding: Finding
    severity: Severity


@dataclass(frozen=True)
class Group:
    """Findings that one cause joins, worst first; or one finding alone, without a cause."""

    cause: Cause | None
    members: tuple[Reported, ...]

    @property
    def severity(self) -> Severity:
        return self.members[0].severity

    @property
    def location(self) -> Location | None:
        """The first line of the user's files that one of them is about."""
        return next((item.finding.location for item in self.members if item.finding.location), None)


RUNS_A_MODEL = ("PE3", "PE4", "PE5")  #: codes of checks that run the model


@dataclass(frozen=True)
class Verdict:
    """The report in one word and one sentence. `tone` chooses a colour; the word says the same."""

    tone: Literal["bad", "caution", "good", "neutral"]
    word: str
    sentence: str


def verdict(report: Report) -> Verdict:
    """Worst news first; a report in which nothing could be checked is not a healthy one. Known findings are no news."""
    found = findings_worst_first(report)
    new = [item for item in found if not item.finding.known]
    said = _about(report, new)
    known = len(found) - len(new)
    also = f" {plural(known, 'finding')} known from the baseline." if known else ""
    return replace(said, word="Nothing new" if known and not new else said.word, sentence=said.sentence + also)


def _about(report: Report, found: list[Reported]) -> Verdict:
    total = plural(len(report.checks), "check")
    counts = {severity: sum(item.severity == severity for item in found) for severity in SEVERITIES}
    listed = join([plural(count, severity) for severity, count in counts.items() if count])
    if counts["error"]:
        return Verdict("bad", "Faults found", f"{listed} in {total}{_joined(report)}.")
    if report.crashed:
        also = f" Found so far: {listed}." if found else ""
        return Verdict("bad", "Incomplete", f"{len(report.crashed)} of {total} crashed.{also}")
    if found and {item.severity for item in found} == {"note"}:
        passed = report.summary["passed"]
        return Verdict("good", "No fault found", f"{passed} of {total} passed, and {listed} to know of.")
    if found:
        return Verdict("caution", "Look at this", f"{listed} in {total}, no error{_joined(report)}.")
    if not report.summary["passed"] and not report.failed:
        return Verdict("neutral", "Nothing was checked", f"None of {total} applied; see what each of them lacked.")
    passed, skipped = report.summary["passed"], report.summary["not-applicable"]
    rest = f"; {skipped} did not apply" if skipped else ""
    ran = {check.status for check in report.checks if check.code.startswith(RUNS_A_MODEL)}
    if ran == {"not-applicable"}:
        return Verdict("neutral", "Partly checked", f"No model was run; {passed} of {total} passed{rest}.")
    return Verdict("good", "No fault found", f"{passed} of {total} passed{rest}.")


def _joined(report: Report) -> str:
    """How many findings share causes."""
    joined = {key for cause in report.causes for key in cause.findings}
    return f", {len(joined)} of them by {plural(len(report.causes), 'cause')}" if joined else ""


def findings_worst_first(report: Report) -> list[Reported]:
    """Every finding, errors before warnings before notes, then by code."""
    found = [
        Reported(check, finding, finding.severity or check.severity)
        for check in report.checks
        for finding in _findings(check)
    ]
    return sorted(found, key=lambda item: (SEVERITIES.index(item.severity), item.check.code))


def groups_worst_first(report: Report) -> list[Group]:
    """Every finding once: joined with those of its cause, or alone."""
    found = findings_worst_first(report)
    numbered = {(c.code, i): f for c in report.checks for i, f in enumerate(c.findings)}
    groups, joined = [], set()
    for cause in report.causes:
        own = {id(numbered[key]) for key in cause.findings if key in numbered}
        if members := tuple(item for item in found if id(item.finding) in own):
            groups.append(Group(cause, members))
            joined |= own
    groups += [Group(None, (item,)) for item in found if id(item.finding) not in joined]
    return sorted(groups, key=lambda group: (SEVERITIES.index(group.severity), group.cause is None))


def checks_in_order(report: Report) -> list[CheckResult]:
    """Every check as a reader wants them: failed (worst first), crashed, passed, not applicable."""
    return sorted(report.checks, key=lambda check: (STATUSES.index(check.status), _rank(check), check.code))


def summary_line(report: Report) -> str:
    """The counts of all four statuses.

    >>> summary_line(Report("a model"))
    '0 failed, 0 crashed, 0 passed, 0 not applicable'
    """
    return ", ".join(f"{report.summary[status]} {STATUS_WORDS[status]}" for status in STATUSES)


def number(value: Any) -> str:
    """A value as people read it: four digits, whole numbers without an exponent, options of options in brackets.

    >>> number(100000.0), number(0.0001234567), number({"kind": "plain", "base": 1e5})
    ('100000', '0.0001235', '(kind plain, base 100000)')
    """
    if hasattr(value, "tolist"):  # numbers and arrays of numpy or torch
        value = value.tolist()
    if isinstance(value, Mapping):
        return f"({pairs(value)})"
    if isinstance(value, list | tuple):
        return f"[{', '.join(number(item) for item in value)}]"
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "none"}[value]
    if isinstance(value, float):
        whole = abs(value) < 1e15 and value.is_integer()
        return str(int(value)) if whole else f"{value:.4g}"
    return str(value)


def pairs(values: Mapping[str, Any]) -> str:
    """Names with their values: `width 384, rows 512`."""
    return ", ".join(f"{name} {number(value)}" for name, value in values.items())


def against(measured: Measured) -> str:
    """What was measured, with the threshold it was held against."""
    held = "" if measured.threshold is None else f" (threshold {number(measured.threshold)})"
    return f"{measured.name} {number(measured.value)}{held}"


def plural(count: int, noun: str) -> str:
    """
    >>> plural(1, "error"), plural(2, "error")
    ('1 error', '2 errors')
    """
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def join(words: list[str]) -> str:
    """
    >>> join(["a", "b", "c"])
    'a, b and c'
    """
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _findings(check: CheckResult) -> Iterator[Finding]:
    """A failed check without a finding still has to be seen."""
    if check.status == "failed" and not check.findings:
        yield Finding(where="", message=check.title or check.name, fix="")
    yield from check.findings


def _rank(check: CheckResult) -> int:
    return min((SEVERITIES.index(f.severity or check.severity) for f in _findings(check)), default=len(SEVERITIES))
