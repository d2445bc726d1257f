"""Runs checks on a subject. A check without evidence is not applicable, one that breaks is crashed; the rest go on."""

import time
import traceback
from collections.abc import Callable, Iterable

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import Check, registry
from gnomon.errors import GnomonError
from gnomon.report.document import SEVERITIES, CheckResult, Finding, Measured, Severity, Status

ON_FILES = ("PE1", "PE7")  #: groups about what the user wrote: a stand-in has none of it
Progress = Callable[[str, str, int, int], None]  #: code, name, done, total


def run(code: str, subject: Subject) -> CheckResult:
    """Run one check by its code."""
    return run_check(registry.get(code), subject)


def run_check(check: Check, subject: Subject) -> CheckResult:
    """Run one check to its end, whatever it does; the subject is never changed by it."""
    started = time.perf_counter()
    findings: list[Finding] = []
    measured: list[Measured] = []
    status: Status
    try:
        for item in check.body(subject):
            (findings if isinstance(item, Finding) else measured).append(item)  # type: ignore[arg-type]
        status, detail = ("failed" if findings else "passed"), ""
    except MissingEvidence as missing:
        # What was found before the evidence ran out still stands.
        status, detail = ("failed" if findings else "not-applicable"), str(missing)
    except Exception:  # noqa: BLE001 - the contract: a crash is a result, the rest still runs
        status, detail = "crashed", traceback.format_exc(limit=-6)
    seconds = time.perf_counter() - started
    severity = _worst(findings, check.severity)
    return CheckResult(
        check.code, check.name, severity, status, check.title, seconds, detail, tuple(measured), tuple(findings)
    )


def run_all(
    checks: Iterable[Check],
    subject: Subject,
    progress: Progress | None = None,
    *,
    heavy: bool = False,
    stand_in: Subject | None = None,
) -> tuple[CheckResult, ...]:
    """Run the checks in the order of their codes; without `heavy`, those that take long are not applicable.

    What does not apply to the subject is tried on its `stand_in`: a smaller model where the subject cannot be run.
    """
    ordered = sorted(checks, key=lambda check: check.code)
    results = []
    for done, check in enumerate(ordered):
        if progress is not None:
            progress(check.code, check.name, done, len(ordered))
        results.append(_run_either(check, subject, stand_in) if heavy or not check.heavy else _left_out(check))
    if progress is not None:
        progress("", "done", len(ordered), len(ordered))
    return tuple(results)


def _run_either(check: Check, subject: Subject, stand_in: Subject | None) -> CheckResult:
    result = run_check(check, subject)
    if stand_in is None or stand_in is subject or result.status != "not-applicable" or check.code.startswith(ON_FILES):
        return result
    return run_check(check, stand_in)


def _left_out(check: Check) -> CheckResult:
    why = f"takes many seconds; --select {check.code} or --thorough runs it"
    return CheckResult(check.code, check.name, check.severity, "not-applicable", check.title, detail=why)


def chosen(select: str | Iterable[str] | None, ignore: str | Iterable[str] | None) -> list[Check]:
    """The checks whose code starts with one of `select` (all when None) and with none of `ignore`.

    Prefixes are a list, or one string with commas.

    >>> [check.code for check in chosen("PE202,PE207", None)]
    ['PE202', 'PE207']
    """
    wanted, unwanted = _prefixes(select), _prefixes(ignore) or ()
    checks = [check for _, check in registry]
    for prefix in (*(wanted or ()), *unwanted):
        if not any(check.code.startswith(prefix) for check in checks):
            raise GnomonError(f"No check's code starts with {prefix!r}; `gnomon list checks` shows the codes.")
    kept = [c for c in checks if wanted is None or c.code.startswith(wanted)]
    left = [c for c in kept if not c.code.startswith(unwanted)]
    if not left:
        raise GnomonError("The codes to select and to ignore leave no check; `gnomon list checks` shows the codes.")
    return left


def _prefixes(codes: str | Iterable[str] | None) -> tuple[str, ...] | None:
    if codes is None:
        return None
    parts = codes.split(",") if isinstance(codes, str) else codes
    return tuple(part.strip().upper() for part in parts if part.strip())


def _worst(findings: list[Finding], default: Severity) -> Severity:
    severities = [finding.severity or default for finding in findings]
    return min(severities, key=SEVERITIES.index, default=default)
