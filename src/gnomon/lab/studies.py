"""A suite, done: its runs, what they say together, and how to repeat them."""

from collections.abc import Sequence

from gnomon.errors import GnomonError
from gnomon.lab.engines import Engine, Progress
from gnomon.lab.engines.launched import processes
from gnomon.lab.machine import this_machine
from gnomon.lab.store import Store
from gnomon.lab.suites import Size, Suite
from gnomon.report.lab.evidence import Evidence
from gnomon.report.lab.results import MeasureInfo, Result, seconds_of
from gnomon.report.lab.study import Study


def run_suite(
    suite: Suite,
    size: Size,
    seeds: Sequence[int],
    engine: Engine,
    store: Store,
    command: str,
    progress: Progress | None = None,
) -> Study:
    """Do the runs that are not in the store, and hold what all of them measured against what the suite expects.

    `command` repeats the study. Raises GnomonError for seeds that are no seeds; a run that fails is in the study.
    """
    _require_seeds(seeds)
    results, failures = engine.perform(suite.runs(size, seeds), store, progress)
    evidence, measures = Evidence(results), infos(results)
    from gnomon.lab.figures import figures
    from gnomon.lab.statistics import compare, rankings

    compared = (compare(evidence, pair) for pair in suite.pairs(size))
    return Study(
        suite=suite.name,
        title=suite.title,
        question=suite.question,
        method=suite.method(size),
        size=size,
        command=command,
        sources=suite.sources,
        measures=measures,
        results=tuple(results),
        failures=tuple(failures),
        comparisons=tuple(comparison for comparison in compared if comparison is not None),
        rankings=rankings(evidence, measures),
        judgements=tuple(suite.judge(evidence, size)),
        figures=figures(evidence, measures),
        environment={**this_machine(), "processes": str(processes())},
        seconds=seconds_of(results),
    )


def infos(results: Sequence[Result]) -> tuple[MeasureInfo, ...]:
    """What the numbers of these results mean: by their experiment, by the registered measure, or by name alone."""
    names = {name: result for result in results for series in result.measured.values() for name in series}
    return tuple(_info(name, result.run.experiment) for name, result in names.items())


def _info(name: str, experiment: str) -> MeasureInfo:
    from gnomon.lab import experiments, measures

    own = {info.name: info for info in experiments.registry.get(experiment).infos}
    if name in own:
        return own[name]
    return measures.registry.get(name).info if name in measures.registry else MeasureInfo(name, name.replace("_", " "))


def _require_seeds(seeds: Sequence[int]) -> None:
    if not seeds or len(set(seeds)) < len(seeds) or min(seeds) < 0:
        raise GnomonError(f"A study needs one seed or more, each of them once and none below 0, got {list(seeds)}.")
