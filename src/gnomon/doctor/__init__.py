"""The doctor: measures what a model does about positions, judges it against the formulas, and says how to mend it."""

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import Check, check
from gnomon.doctor.diagnosis import diagnose, inspect
from gnomon.doctor.runner import run
from gnomon.report.document import CheckResult, Finding, Measured, Report

__all__ = [
    "Check",
    "CheckResult",
    "Finding",
    "Measured",
    "MissingEvidence",
    "Report",
    "Subject",
    "check",
    "diagnose",
    "inspect",
    "run",
]
