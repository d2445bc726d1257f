"""`gnomon lab SUITE`: experiments that compare position encodings, and a report of what they measured."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from typer.core import TyperGroup

from gnomon.cli.lab_progress import show_sweep
from gnomon.cli.output import stdout_for_the_result
from gnomon.errors import GnomonError

if TYPE_CHECKING:
    from gnomon.lab.engines import Progress
    from gnomon.lab.store import Store
    from gnomon.report.lab.study import Study

SUITE = "suite"  #: the hidden command that every suite's name leads to
FOLDER = Path("reports") / "lab"
RANKED = 3  #: seeds that a ranking needs

EngineName = Annotated[Literal["local", "ray"], typer.Option("--engine", help="Processes on this machine, or Ray.")]
Address = Annotated[
    str | None, typer.Option(help="With --engine ray: HOST:PORT of a cluster, or auto; none starts one here.")
]
Workers = Annotated[int | None, typer.Option(min=1, help="Runs at once on this machine; by default one for each core.")]
Device = Annotated[Literal["cpu", "auto"], typer.Option(help="auto takes a GPU where there is one.")]
Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        help=f"Folder of the report and of finished runs; by default one for each suite and size in {FOLDER}.",
    ),
]
Format = Annotated[Literal["text", "json"], typer.Option(help="How to write the study on stdout.")]


class LabGroup(TyperGroup):
    """Every suite is a command."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Raises UnknownNameError, with a hint, for what is neither a command nor a suite."""
        own = super().get_command(ctx, cmd_name)
        if own is not None:
            return own
        from gnomon.lab.suites import registry

        asked = registry.get(cmd_name)
        any_suite = copy(self.commands[SUITE])
        any_suite.help = f"{asked.question}\n\n{any_suite.help}"
        return any_suite

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """The suites, each with its question, and the other commands."""
        from gnomon.lab.suites import registry

        with formatter.section("Suites"):
            formatter.write_dl([(name, suite.question) for name, suite in registry])
        super().format_commands(ctx, formatter)


lab = typer.Typer(
    cls=LabGroup,
    no_args_is_help=True,
    rich_markup_mode=None,
    subcommand_metavar="SUITE [OPTIONS]",
    epilog="Exit codes: 0 done, whatever was seen; 2 could not run, or some runs failed.",
)


@lab.callback()
def group() -> None:
    """Compare position encodings by experiments.

    A suite is a question and the runs that answer it; with --quick it takes minutes on two cores.
    """


@lab.command(SUITE, hidden=True)
def suite(
    context: typer.Context,
    quick: Annotated[bool, typer.Option("--quick", help="Smaller sizes: minutes on two cores.")] = False,
    seeds: Annotated[int, typer.Option(min=1, help="How many seeds; nothing is ranked from fewer than 3.")] = 3,
    engine: EngineName = "local",
    address: Address = None,
    workers: Workers = None,
    device: Device = "cpu",
    output: Output = None,
    format: Format = "text",
) -> None:
    """Do the runs that are not finished, print what all of them say, and write a report.

    A command that was stopped goes on when it is given again. Exit codes: 0 done, 2 could not run, or some runs failed.
    """
    from gnomon.lab.engines import choose
    from gnomon.lab.engines.launched import leads
    from gnomon.lab.studies import run_suite
    from gnomon.lab.suites import registry

    name = str(context.info_name)
    chosen = registry.get(name)()
    size: Literal["quick", "full"] = "quick" if quick else "full"
    folder = output or FOLDER / (f"{name}-quick" if quick else name)
    require_folder(folder)
    require_data(chosen.needs(size))
    runner = choose(engine, device=None if device == "auto" else device, workers=workers, address=address)
    store = open_store(folder, device, engine)
    command = command_line(name, size, seeds, device)
    with stdout_for_the_result(), told(folder) as progress:
        if seeds < RANKED:
            progress.note(f"nothing is ranked from fewer than {RANKED} seeds")
        study = run_suite(chosen, size, range(seeds), runner, store, command, progress)
    if leads():
        deliver_study(study, folder, format)
    raise typer.Exit(2 if study.failures else 0)


@contextmanager
def told(folder: Path) -> Iterator["Progress"]:
    """Progress on stderr, of the process that leads; what an interruption leaves is said."""
    from gnomon.lab.engines import Silent
    from gnomon.lab.engines.launched import leads

    if not leads():
        yield Silent()
        return
    try:
        with show_sweep() as progress:
            yield progress
    except KeyboardInterrupt:
        typer.echo(f"gnomon: finished runs are kept in {folder}; the same command goes on from there", err=True)
        raise


def deliver_study(study: "Study", folder: Path, format: str) -> None:
    """Print the study, and write it to the folder as a page, as JSON and as CSV."""
    from gnomon.plots.files import write_whole
    from gnomon.report.lab.csv import render_csv
    from gnomon.report.lab.html import write_html
    from gnomon.report.lab.text import render_text

    write_whole(folder / "study.json", (study.to_json() + "\n").encode())
    write_whole(folder / "results.csv", render_csv(study).encode())
    write_html(study, folder / "report.html")
    typer.echo(study.to_json() if format == "json" else render_text(study))
    typer.echo(f"gnomon: wrote report.html, study.json and results.csv to {folder}", err=True)


def require_folder(folder: Path) -> None:
    """Raise before the work is done when this can be no folder of ours. Nothing is made."""
    if folder == Path():
        raise GnomonError("Name a folder of its own for the report and the finished runs, as in --output reports/mine.")
    nearest = next(path for path in (folder, *folder.parents, Path()) if path.exists())
    if not nearest.is_dir():
        raise GnomonError(f"{nearest} is a file; name a folder for the report and the finished runs.")
    if not os.access(nearest, os.W_OK):
        raise GnomonError(f"The folder {nearest} cannot be written; choose another one with --output.")


def require_data(names: Iterable[str]) -> None:
    """Raise, with the command that fetches it, when a data set that a suite reads is not there."""
    from gnomon.lab.data.cache import find

    if missing := [name for name in names if find(name) is None]:
        raise GnomonError(f"Data are not on this machine; run `gnomon lab data {' '.join(missing)}` first.")


def open_store(folder: Path, device: str, engine: str) -> "Store":
    """The finished runs in a folder, those of today's versions; of the device too, unless a cluster chooses it."""
    from gnomon.lab.checksums import checksum_today
    from gnomon.lab.machine import found_device, versions
    from gnomon.lab.store import Store

    today = versions()
    if device == "cpu":
        today["device"] = "cpu"
    elif engine == "local":
        today["device"] = found_device()
    return Store(folder, today, checksum_today)


def command_line(name: str, size: str, seeds: int, device: str, *others: str) -> str:
    """The command that repeats a study, whatever engine does it."""
    form = [] if size == "full" else [f"--{size}"]
    chosen = [] if device == "cpu" else [f"--device {device}"]
    return " ".join([f"gnomon lab {name}", *form, *others, f"--seeds {seeds}", *chosen])
