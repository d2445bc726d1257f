"""`gnomon lint`: the config checks over many files, one line a finding: for hooks that run before a commit."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gnomon.cli.doctor import Baseline
from gnomon.errors import GnomonError

if TYPE_CHECKING:
    from gnomon.report.document import Report

CONFIG_CHECKS = "PE1"


def lint(
    files: Annotated[list[Path], typer.Argument(help="Config files; JSON files that are no model config are skipped.")],
    baseline: Baseline = None,
) -> None:
    """Check config files alone; nothing is run."""
    from gnomon.doctor import diagnose
    from gnomon.report.baseline import read_baseline, with_known

    known = frozenset() if baseline is None else read_baseline(baseline)
    worst, examined = 0, 0
    for file in files:
        if _is_config(file):
            report = with_known(diagnose(str(file), select=CONFIG_CHECKS, forward=False), known)
            for line in _lines(file, report):
                typer.echo(line)
            # A config that says nothing of positions is no reason to stop; a check that crashed is.
            ended = 2 if report.crashed else report.exit_code % 2
            worst, examined = max(worst, ended), examined + 1
    typer.echo(f"gnomon: {examined} of {len(files)} files are model configs", err=True)
    raise typer.Exit(worst)


def _is_config(file: Path) -> bool:
    """Whether this is a model's config: an object that names its model_type, or a scaling of rotary positions."""
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise GnomonError(f"The file {file} cannot be read: {error.strerror}.") from None
    except (ValueError, RecursionError):
        if file.name == "config.json":
            raise GnomonError(f"The file {file} is not JSON.") from None
        return False
    return isinstance(data, dict) and any(key in data for key in ("model_type", "rope_scaling", "rope_parameters"))


def _lines(file: Path, report: "Report") -> Iterator[str]:
    """As compilers write them, so that editors can jump there."""
    from gnomon.report.reading import findings_worst_first

    for item in findings_worst_first(report):
        if not item.finding.known:
            line = item.finding.location.line if item.finding.location else 1
            said = f"{item.check.code} {item.finding.message}; {item.finding.fix}"
            yield f"{file}:{line}: {item.severity}: {said}"
    for check in report.crashed:
        yield f"{file}:1: error: {check.code} crashed"
