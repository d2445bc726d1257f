"""Claims, measured: the runs that they need, and the report of what those say."""

import re
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Literal

from gnomon.lab.claims.base import Claim, Measured, NotMeasurable, Numbers, OfSuite, Reading, Said
from gnomon.lab.engines import Engine, Progress
from gnomon.lab.machine import this_machine
from gnomon.lab.store import Store
from gnomon.lab.suites import registry as suites
from gnomon.report.lab.claims import ClaimResult, ClaimsReport
from gnomon.report.lab.evidence import Evidence
from gnomon.report.lab.results import Result, Run, seconds_of
from gnomon.report.lab.spread import spread
from gnomon.report.lab.study import Failure

Size = Literal["direct", "quick", "full"]
NOT_ASKED = "Not asked for: it takes training runs, which `gnomon lab claims --quick` does."
BETWEEN = ": "  #: between the name of a suite and that of its group


def run_claims(
    claims: Sequence[Claim],
    size: Size,
    seeds: Sequence[int],
    engine: Engine,
    store: Store,
    command: str,
    progress: Progress | None = None,
) -> ClaimsReport:
    """Do the runs that are not in the store, and judge each claim by what they measured.

    "direct" leaves out what trains for more than a few seconds. A run that fails leaves its claim "not measured", with
    what it said, unless another seed was measured.
    """
    results, failures = engine.perform(runs(claims, size, seeds), store, progress)
    return ClaimsReport(
        claims=tuple(judged(claim, size, results, failures) for claim in claims),
        size=size,
        command=command,
        date=time.strftime("%Y-%m-%d"),
        seeds=tuple(seeds),
        environment=this_machine(),
        seconds=seconds_of(results),
    )


def runs(claims: Iterable[Claim], size: Size, seeds: Sequence[int]) -> list[Run]:
    """What has to be done, suites first since their runs are long; a run that several claims need stands once."""
    chosen = [claim for claim in claims if _asked(claim, size)]
    parts = [run for claim in chosen if isinstance(claim, OfSuite) for run in _of_suite(claim, size, seeds)]
    own = [
        Run("claim", _group(claim), "measured", seed, {"number": claim.number})
        for claim in sorted(chosen, key=lambda claim: not getattr(claim, "trains", False))
        if isinstance(claim, Measured)
        for seed in (seeds if claim.seeded else seeds[:1])
    ]
    return list({(run.group, run.variant, run.key): run for run in (*parts, *own)}.values())


def judged(claim: Claim, size: Size, results: Sequence[Result], failures: Sequence[Failure]) -> ClaimResult:
    """One claim against what was measured."""
    mine = [result for result in results if _serves(claim, result.run)]
    failed = list(dict.fromkeys(failure.message for failure in failures if _serves(claim, failure.run)))
    reading = _reading(claim, size, mine)
    said = reading.said
    if said.verdict == "not measured" and failed:
        said = replace(said, seen=" ".join(failed))
    elif failed:
        said = replace(said, seen=f"{said.seen} Some runs failed: {' '.join(failed)}")
    return ClaimResult(
        number=claim.number,
        section=claim.section,
        statement=claim.statement,
        truth=claim.truth,
        verdict=said.verdict,
        seen=said.seen,
        numbers=reading.numbers,
        private=claim.private,
        links=tuple(dict.fromkeys(re.findall(r"PE\d{3}", claim.gnomon))),
        seconds=sum(result.seconds for result in mine),
    )


def _asked(claim: Claim, size: Size) -> bool:
    return size != "direct" or not (isinstance(claim, OfSuite) or getattr(claim, "trains", False))


def _group(claim: Claim) -> str:
    return f"claim {claim.number}"


def _of_suite(claim: OfSuite, size: Size, seeds: Sequence[int]) -> list[Run]:
    every = suites.get(claim.suite)().runs(_of_suites(size), seeds)
    return [replace(run, group=f"{claim.suite}{BETWEEN}{run.group}") for run in every if claim.keeps(run)]


def _plain(claim: OfSuite, run: Run) -> Run | None:
    """The run as its suite knows it; None for a run of another suite."""
    start = f"{claim.suite}{BETWEEN}"
    return replace(run, group=run.group.removeprefix(start)) if run.group.startswith(start) else None


def _serves(claim: Claim, run: Run) -> bool:
    if isinstance(claim, OfSuite):
        plain = _plain(claim, run)
        return plain is not None and claim.keeps(plain)
    return run.group == _group(claim)


def _reading(claim: Claim, size: Size, mine: Sequence[Result]) -> Reading:
    if isinstance(claim, NotMeasurable):
        return Reading(Said("not measurable here", claim.why), {})
    if not _asked(claim, size):
        return Reading(Said("not measured", NOT_ASKED), {})
    reading = None
    if isinstance(claim, OfSuite):
        shown = [(result, _plain(claim, result.run)) for result in mine]
        evidence = Evidence([replace(result, run=run) for result, run in shown if run is not None])
        reading = claim.read(evidence, _of_suites(size))
    elif isinstance(claim, Measured) and (numbers := _numbers(mine)):
        reading = Reading(claim.judge(numbers), numbers)
    return Reading(Said("not measured", "Its runs gave no numbers."), {}) if reading is None else reading


def _numbers(mine: Sequence[Result]) -> Numbers:
    by_name: dict[str, dict[int, float]] = {}
    for result in mine:
        for name, series in result.measured["measured"].items():
            if (value := series.value()) is not None:
                by_name.setdefault(name, {})[result.run.seed] = value
    return {name: spread(by_seed) for name, by_seed in by_name.items()}


def _of_suites(size: Size) -> Literal["quick", "full"]:
    return "full" if size == "full" else "quick"
