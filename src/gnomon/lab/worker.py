"""One run, done in this process: build the experiment, time it, say where it was made."""

import importlib
import math
import time
from contextlib import suppress
from dataclasses import replace

from gnomon.errors import GnomonError
from gnomon.lab.experiments import Context, build_experiment
from gnomon.lab.machine import environment
from gnomon.report.lab.results import Result, Run, Series

RESUMED = "It went on from a checkpoint; its seconds are those of the last sitting."
NOT_FINITE = "the number was not finite"


def perform(run: Run, context: Context) -> Result:
    """Do a run. What it measured of itself stands under the variant "", as it is stored.

    Numbers that are not finite are None, with the reason.

    >>> options = {"task": {"task": "copy"}, "lengths": [2, 3], "measures": [], "training": {"steps": 1}}
    >>> perform(Run("train", "copy", "rotary", 0, options), Context(0)).measured
    {'': {}}
    """
    _import_all()
    resumed = context.folder is not None and any(context.folder.glob("[!.]*"))
    started = time.perf_counter()
    outcome = build_experiment(run.experiment, run.options).run(context)
    return Result(
        run,
        {variant: {name: _finite(series) for name, series in own.items()} for variant, own in outcome.measured.items()},
        seconds=time.perf_counter() - started,
        environment=environment(context.device),
        data=outcome.data,
        notes=(*outcome.notes, *([RESUMED] if resumed else [])),
    )


def sentence(error: Exception) -> str:
    """What an error says, as one line; an error that is no message for users is named, with where it arose."""
    words = " ".join(str(error).split())
    if isinstance(error, GnomonError):
        return words
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    where = f" ({frame.tb_frame.f_globals.get('__name__')}, line {frame.tb_lineno})" if frame else ""
    return f"{type(error).__name__}: {words}{where}"


def _import_all() -> None:
    """Import what runs need, which takes seconds the first time, so that it is no part of the time of a run."""
    from gnomon.lab import measures, tasks

    for registry in (measures.registry, tasks.registry):
        len(registry)
    with suppress(ImportError):  # an experiment that trains says what is missing
        importlib.import_module("torch._dynamo")  # every optimizer of torch does
        importlib.import_module("gnomon.lab.training.loop")


def _finite(series: Series) -> Series:
    values = tuple(value if value is None or math.isfinite(value) else None for value in series.values)
    return series if values == series.values else replace(series, values=values, why=series.why or NOT_FINITE)
