"""`gnomon lab claims`: the article's claims, each held against a measurement."""

from typing import TYPE_CHECKING, Annotated

import typer

from gnomon.cli.lab import (
    FOLDER,
    Address,
    Device,
    EngineName,
    Format,
    Output,
    Workers,
    command_line,
    open_store,
    require_folder,
    told,
)
from gnomon.cli.output import stdout_for_the_result
from gnomon.errors import GnomonError

if TYPE_CHECKING:
    from pathlib import Path

    from gnomon.lab.claims.study import Size
    from gnomon.report.lab.claims import ClaimsReport


def claims(
    quick: Annotated[bool, typer.Option("--quick", help="Smaller training runs: minutes on two cores.")] = False,
    direct: Annotated[bool, typer.Option("--direct", help="Only what needs no long training: about a minute.")] = False,
    only: Annotated[str | None, typer.Option(help="Numbers of claims, as in 5,18; by default all.")] = None,
    seeds: Annotated[int, typer.Option(min=1, help="How many seeds.")] = 3,
    engine: EngineName = "local",
    address: Address = None,
    workers: Workers = None,
    device: Device = "cpu",
    output: Output = None,
    format: Format = "text",
) -> None:
    """Measure the claims of the article that gnomon began with, and print each with its verdict.

    A command that was stopped goes on when it is given again. Exit codes: 0 done, whatever was seen; 2 could not run.
    """
    from gnomon.lab.claims import all_claims
    from gnomon.lab.claims.study import run_claims
    from gnomon.lab.engines import choose
    from gnomon.lab.engines.launched import leads

    size = _size(quick=quick, direct=direct)
    chosen = all_claims(None if only is None else _numbers(only))
    folder = output or FOLDER / "claims"
    require_folder(folder)
    runner = choose(engine, device=None if device == "auto" else device, workers=workers, address=address)
    store = open_store(folder, device, engine)
    others = [] if only is None else [f"--only {','.join(map(str, _numbers(only)))}"]
    command = command_line("claims", size, seeds, device, *others)
    with stdout_for_the_result(), told(folder) as progress:
        report = run_claims(chosen, size, range(seeds), runner, store, command, progress)
    if leads():
        _deliver(report, folder, format)


def _size(*, quick: bool, direct: bool) -> "Size":
    if quick and direct:
        raise GnomonError("Choose one of --quick and --direct; --direct leaves out what --quick trains.")
    return "quick" if quick else "direct" if direct else "full"


def _numbers(only: str) -> list[int]:
    words = [word.strip() for word in only.split(",") if word.strip()]
    if not words or not all(word.isdecimal() for word in words):
        raise GnomonError(f"Claims are given by their numbers, as in 5,18, got {only!r}.")
    return [int(word) for word in words]


def _deliver(report: "ClaimsReport", folder: "Path", format: str) -> None:
    """Print the report, and write it to the folder as a page, as JSON and as Markdown."""
    from gnomon.plots.files import write_whole
    from gnomon.report.lab.claims_html import write_html
    from gnomon.report.lab.claims_markdown import render_markdown
    from gnomon.report.lab.claims_text import render_text

    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / "claims.json", (report.to_json() + "\n").encode())
    write_whole(folder / "claims.md", render_markdown(report).encode())
    write_html(report, folder / "claims.html")
    typer.echo(report.to_json() if format == "json" else render_text(report))
    typer.echo(f"gnomon: wrote claims.html, claims.json and claims.md to {folder}", err=True)
