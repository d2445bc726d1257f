"""Evidence for a suite from numbers that are written down: one for each measure of each of its runs."""

from collections.abc import Callable

from gnomon.lab.suites.base import Size, Suite
from gnomon.report.lab.evidence import Evidence
from gnomon.report.lab.results import Result, Run, Series

#: The number of a run for a measure; None: it could not be measured.
Number = Callable[[Run, str], float | None]


def evidence_of(suite: Suite, size: Size, number: Number, seeds: int = 3) -> Evidence:
    """What all runs of a suite measured, by `number`, which gets the run and the measure's name."""
    return Evidence([_result(run, number) for run in suite.runs(size, range(seeds))])


def _result(run: Run, number: Number) -> Result:
    measured = {}
    for options in run.options["measures"]:
        name = options["measure"]
        at = {"gradient_spread": (10.0, 100.0), "loss_curve": (50.0, 100.0)}.get(
            name, tuple(float(n) for n in options.get("lengths") or ())
        )
        measured[name] = Series(at, (number(run, name),) * max(1, len(at)))
    return Result(run, {run.variant: measured}, seconds=1.0)
