"""`gnomon list`: what there is to build and to run."""

from typing import Annotated, Any

import typer

from gnomon.cli.columns import columns
from gnomon.errors import GnomonError

KINDS = "encodings, checks or frequencies"
PLANNED = ("tasks", "suites")


def list_names(kind: Annotated[str, typer.Argument(help=f"What to list: {KINDS}.", show_default=False)]) -> None:
    """List encodings, checks or frequencies, one line each."""
    if kind == "encodings":
        rows = _encodings()
    elif kind == "checks":
        rows = _checks()
    elif kind == "frequencies":
        rows = _frequencies()
    elif kind in PLANNED:
        raise GnomonError(f"There are no {kind} yet; list {KINDS}.")
    else:
        raise GnomonError(f"There is no list of {kind!r}; list {KINDS}.")
    typer.echo(columns(rows))


def _encodings() -> list[tuple[str, ...]]:
    from gnomon.encodings.base import registry

    return [(name, _promises(cls), _summary(cls)) for name, cls in registry]


def _checks() -> list[tuple[str, ...]]:
    from gnomon.doctor.check import registry

    return [(check.code, check.severity, check.name, check.title) for _, check in registry]


def _frequencies() -> list[tuple[str, ...]]:
    from gnomon.encodings.frequencies.base import registry

    return [(name, _summary(cls)) for name, cls in registry]


def _promises(cls: Any) -> str:
    kinds = ["relative" if cls.relative else "absolute", *(["learned"] if cls.learned else [])]
    return ", ".join(kinds if cls.uses_position else ["none"])


def _summary(cls: type) -> str:
    """The first paragraph of a class's docstring as one line."""
    return " ".join((cls.__doc__ or "").strip().split("\n\n")[0].split())
