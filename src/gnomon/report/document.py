"""What an examination found, as plain data. The doctor fills it; each renderer reads it. Nothing here imports torch."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from gnomon.plots.figure import Figure
from gnomon.report.cause import Cause, Location

Severity = Literal["error", "warning", "note"]
Status = Literal["passed", "failed", "not-applicable", "crashed"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")  # worst first
STATUSES: tuple[Status, ...] = ("failed", "crashed", "passed", "not-applicable")  # in the order a reader wants them
SCHEMA_VERSION = 1


@dataclass(frozen=True)
class Finding:
    """One fault at one place: what was seen, what to do, and the numbers that show it."""

    where: str
    message: str
    fix: str
    measured: Mapping[str, Any] = field(default_factory=dict)
    severity: Severity | None = None  #: None: the severity of the check
    location: Location | None = None  #: the line of the user's files that it is about, where that can be told
    known: bool = False  #: listed in the baseline: shown, but no reason to fail a build

    def to_dict(self) -> dict[str, Any]:
        fields = {
            "where": self.where,
            "message": self.message,
            "fix": self.fix,
            "measured": _plain(dict(self.measured)),
        }
        located = {"location": self.location.to_dict()} if self.location else {}
        return {**fields, **located, **({"known": True} if self.known else {})}


@dataclass(frozen=True)
class Measured:
    """One number that a check measured, with the threshold it was held against and why that threshold."""

    name: str
    value: float | int | str
    threshold: float | int | str | None = None
    why: str = ""

    def to_dict(self) -> dict[str, Any]:
        return {"value": _plain(self.value), "threshold": _plain(self.threshold), "why": self.why}


@dataclass(frozen=True)
class CheckResult:
    """How one check ended. `detail` says why it did not apply, or carries the trace of a crash."""

    code: str
    name: str
    severity: Severity
    status: Status
    title: str = ""  #: the check's one-line summary
    seconds: float = 0.0
    detail: str = ""
    measured: tuple[Measured, ...] = ()
    findings: tuple[Finding, ...] = ()

    @property
    def is_error(self) -> bool:
        """Whether it found a fault at error level that no baseline lists."""
        if self.status != "failed" or self.severity != "error":
            return False
        new = [finding for finding in self.findings if not finding.known]
        return not self.findings or any((finding.severity or self.severity) == "error" for finding in new)

    def to_dict(self) -> dict[str, Any]:
        return {
            "code": self.code,
            "name": self.name,
            "severity": self.severity,
            "status": self.status,
            "seconds": round(self.seconds, 4),
            "detail": self.detail,
            "measured": {m.name: m.to_dict() for m in self.measured},
            "findings": [finding.to_dict() for finding in self.findings],
        }


@dataclass(frozen=True)
class FoundEncoding:
    """One encoding that the examination found, and how it was found."""

    kind: str
    where: str
    options: Mapping[str, Any]
    source: Literal["config", "weights", "probe"]

    def to_dict(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "where": self.where,
            "options": _plain(dict(self.options)),
            "source": self.source,
        }


@dataclass(frozen=True)
class Report:
    """The whole examination of one target.

    `causes` join findings of several checks. `notes` say what a reader must know to judge the rest: that a smaller twin
    was run. `figures` are for people (HTML); the JSON form leaves them out.
    """

    target: str
    encodings: tuple[FoundEncoding, ...] = ()
    checks: tuple[CheckResult, ...] = ()
    figures: tuple[Figure, ...] = ()
    gnomon: str = ""
    causes: tuple[Cause, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def failed(self) -> tuple[CheckResult, ...]:
        """The checks that found something, errors first."""
        hits = [c for c in self.checks if c.status == "failed"]
        return tuple(sorted(hits, key=lambda c: (SEVERITIES.index(c.severity), c.code)))

    @property
    def crashed(self) -> tuple[CheckResult, ...]:
        return tuple(c for c in self.checks if c.status == "crashed")

    @property
    def ok(self) -> bool:
        """True when checks ran, none found a fault at error level, and none crashed."""
        return self.exit_code == 0

    @property
    def exit_code(self) -> int:
        """0 nothing new at error level, 1 error-level findings, 2 a check crashed or none of them applied."""
        if any(c.is_error for c in self.checks):
            return 1
        nothing_ran = bool(self.checks) and all(c.status == "not-applicable" for c in self.checks)
        return 2 if self.crashed or nothing_ran else 0

    @property
    def summary(self) -> dict[str, int]:
        order: tuple[Status, ...] = ("passed", "failed", "not-applicable", "crashed")
        return {status: sum(c.status == status for c in self.checks) for status in order}

    def to_dict(self) -> dict[str, Any]:
        places = {(c.code, i): f.where for c in self.checks for i, f in enumerate(c.findings)}
        return {
            "schema_version": SCHEMA_VERSION,
            "gnomon": self.gnomon,
            "target": self.target,
            "encodings": [e.to_dict() for e in self.encodings],
            "checks": [c.to_dict() for c in self.checks],
            "summary": self.summary,
            "causes": [cause.to_dict(places) for cause in self.causes],
            "notes": list(self.notes),
        }

    def to_json(self) -> str:
        """The report as JSON, schema version 1; see docs/report.md."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)

    def to_html(self, path: str) -> None:
        """Write one self-contained page; needs the `plots` extra."""
        from gnomon.report.html import write_html

        write_html(self, path)

    def __str__(self) -> str:
        from gnomon.report.text import render_text

        return render_text(self)


def _plain(value: Any) -> Any:
    """Plain JSON values: NaN and infinities become words, numpy scalars numbers, mappings and sequences follow."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if hasattr(value, "tolist") and not isinstance(value, str):
        return _plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if isinstance(value, str | int | float | bool | None) else str(value)
