"""One line in a team's test suite that holds a model to the whole examination."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from gnomon.doctor.diagnosis import Target, diagnose
from gnomon.report.baseline import read_baseline, with_known
from gnomon.report.document import SEVERITIES, Report, Severity
from gnomon.report.reading import findings_worst_first


class UnhealthyModelError(AssertionError):
    """A model has faults in its position encoding. `report` holds them; the message is the report as text."""

    def __init__(self, report: Report) -> None:
        super().__init__(f"\n{report}")
        self.report = report


def assert_healthy(
    target: Target,
    *,
    select: str | Iterable[str] | None = None,
    ignore: str | Iterable[str] | None = None,
    baseline: str | os.PathLike[str] | None = None,
    severity: Severity = "error",
    **options: Any,
) -> Report:
    """Examine a model, folder, config or file and raise UnhealthyModelError unless it is found healthy.

    A finding of `severity` or worse that the `baseline` file does not list is a fault, and so is a check that crashed,
    or an examination in which nothing applied. `options` are those of `gnomon.diagnose`. Returns the report.

    >>> from gnomon.encodings import ALiBi
    >>> from gnomon.models import Decoder, ModelOptions
    >>> model = Decoder(ModelOptions(vocabulary=32, dim=16, num_heads=2, num_layers=1), encoding=ALiBi(2))
    >>> assert_healthy(model, select="PE3").ok
    True
    """
    report = diagnose(target, select, ignore, **options)
    if baseline is not None:
        report = with_known(report, read_baseline(Path(baseline)))
    worst = SEVERITIES.index(severity)
    found = findings_worst_first(report)
    if report.exit_code or any(SEVERITIES.index(f.severity) <= worst and not f.finding.known for f in found):
        raise UnhealthyModelError(report)
    return report
