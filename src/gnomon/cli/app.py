"""The command and its subcommands."""

from typing import Annotated

import typer

import gnomon
from gnomon.cli.advise import advise
from gnomon.cli.bench import bench
from gnomon.cli.doctor import doctor
from gnomon.cli.env import env
from gnomon.cli.explain import explain
from gnomon.cli.export import export
from gnomon.cli.extend import extend
from gnomon.cli.failures import GuardedGroup
from gnomon.cli.inspect import inspect
from gnomon.cli.lab import lab
from gnomon.cli.lab_claims import claims
from gnomon.cli.lab_data import data
from gnomon.cli.lab_repeat import repeat
from gnomon.cli.layout import layout
from gnomon.cli.lint import lint
from gnomon.cli.list import list_names
from gnomon.cli.plot import plot
from gnomon.cli.resolve import resolve
from gnomon.cli.selftest import selftest

app = typer.Typer(
    cls=GuardedGroup,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 nothing found, 1 findings at error level, 2 could not run.",
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"gnomon {gnomon.__version__}")
        raise typer.Exit


@app.callback()
def command(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Position encodings of Transformers: examine models for faults, choose, measure, resolve, extend and ship."""


app.command("doctor")(doctor)
app.command("inspect")(inspect)
app.command("lint")(lint)
app.command("advise")(advise)
app.command("resolve")(resolve)
app.command("extend")(extend)
app.command("export")(export)
app.add_typer(layout, name="layout", short_help="Tell or change which pairs of lanes the rows fit.")
app.command("explain")(explain)
app.command("list")(list_names)
app.command("plot")(plot)
app.add_typer(lab, name="lab")
app.command("bench")(bench)
app.command("env")(env)
app.command("selftest")(selftest)

lab.command("claims", short_help="Hold the claims of an article against measurements.")(claims)
lab.command("data", short_help="Fetch data sets, or list them.")(data)
lab.command("repeat", short_help="Do one run of a suite again.")(repeat)
