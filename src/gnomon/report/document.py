"""What an examination found, as plain data. The doctor fills it; each renderer reads it. Nothing here imports torch."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from gnomon.plots.figure import Figure

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

    def to_dict(self) -> dict[str, Any]:
        return {
            "code": self.code,
            "name": self.name,
            "severity": self.severity,
            "status": self.status,
            "seconds": round(self.seconds, 4),
            "detail": self.detail,
            "measured": {m.name: m.to_dict() for m in self.measured},
            "findings": [
                {"where": f.where, "message": f.message, "fix": f.fix, "measured": _plain(dict(f.measured))}
                for f in self.findings
            ],
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

    `figures` are for people (HTML); the JSON form leaves them out.
    """

    target: str
    encodings: tuple[FoundEncoding, ...] = ()
    checks: tuple[CheckResult, ...] = ()
    figures: tuple[Figure, ...] = ()
    gnomon: str = ""

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
        """0 nothing found at error level, 1 error-level findings, 2 a check crashed or none of them applied."""
        if any(c.severity == "error" for c in self.failed):
            return 1
        nothing_ran = bool(self.checks) and all(c.status == "not-applicable" for c in self.checks)
        return 2 if self.crashed or nothing_ran else 0

    @property
    def summary(self) -> dict[str, int]:
        order: tuple[Status, ...] = ("passed", "failed", "not-applicable", "crashed")
        return {status: sum(c.status == status for c in self.checks) for status in order}

    def to_dict(self) -> dict[str, Any]:
        return {
            "schema_version": SCHEMA_VERSION,
            "gnomon": self.gnomon,
            "target": self.target,
            "encodings": [e.to_dict() for e in self.encodings],
            "checks": [c.to_dict() for c in self.checks],
            "summary": self.summary,
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
