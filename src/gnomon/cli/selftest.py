"""`gnomon selftest`: the contracts on the user's own machine."""

from typing import Annotated

import typer

from gnomon.cli.columns import columns, terminal_width


def selftest(
    device: Annotated[
        str, typer.Option(help="Also compare each encoding there with the CPU: cuda, cuda:1, mps.")
    ] = "cpu",
) -> None:
    """Hold encodings and fast paths to their formulas, here.

    Exit code 1 when anything fails: then the machine, or the versions of its libraries, give wrong numbers.
    """
    from gnomon.testing.selftest import selftest as tried_here

    tried = list(tried_here(device))
    rows = [
        (each.part, each.name, each.status, f"{each.seconds:.2f} s", " ".join(each.detail.split())) for each in tried
    ]
    typer.echo(columns(rows, width=terminal_width()))
    counts = {status: sum(each.status == status for each in tried) for status in ("passed", "failed", "not here")}
    typer.echo(f"\n{counts['passed']} passed, {counts['failed']} failed, {counts['not here']} cannot be tried here.")
    raise typer.Exit(int(counts["failed"] > 0))
