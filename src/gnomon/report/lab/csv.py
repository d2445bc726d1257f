"""The results of a study as CSV: a row for each number, with what it is of."""

import csv
import io
from collections.abc import Iterator

from gnomon.report.lab.study import Study

COLUMNS = (
    "suite",
    "size",
    "group",
    "variant",
    "seed",
    "measure",
    "unit",
    "axis",
    "at",
    "value",
    "why",
    "seconds",
    "key",
)


def render_csv(study: Study) -> str:
    """One row for each run, variant, measure and place. An empty value was not measurable, and `why` says why.

    `seconds` are those of the whole run, `key` names it (see `Run.key`). Numbers keep all their digits.

    >>> render_csv(Study("copy", "", "", "", "quick", "")).splitlines()
    ['suite,size,group,variant,seed,measure,unit,axis,at,value,why,seconds,key']
    """
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(_rows(study))
    return stream.getvalue()


def _rows(study: Study) -> Iterator[tuple[object, ...]]:
    infos = {info.name: info for info in study.measures}
    for result in study.results:
        run = result.run
        for variant, measured in result.measured.items():
            for name, series in measured.items():
                info = infos.get(name)
                unit, axis = (info.unit, info.axis) if info else ("", "")
                for at, value in zip(series.at or ("",), series.values, strict=True):
                    own = (study.suite, study.size, run.group, variant, run.seed, name, unit, axis)
                    number = "" if value is None else repr(value)
                    why = series.why if value is None else ""
                    yield (*own, at if at == "" else f"{at:g}", number, why, round(result.seconds, 3), run.key)
