"""Where results go: stdout, or a file that appears whole or not at all. What is said about it goes to stderr."""

from pathlib import Path

import typer


def deliver(text: str, output: Path | None) -> None:
    """Print the result, or write it to `output` and say so."""
    if output is None:
        typer.echo(text)
        return
    from gnomon.plots.files import write_whole

    write_whole(output, (text.rstrip("\n") + "\n").encode())
    say_written(output)


def require_writable(output: Path | None) -> None:
    """Raise before the work is done when its result could not be written."""
    if output is not None:
        from gnomon.plots.files import check_writable

        check_writable(output)


def say_written(output: Path) -> None:
    typer.echo(f"gnomon: wrote {output}", err=True)
