"""Where results go: stdout, or a file that appears whole or not at all. What is said about it goes to stderr."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path

import typer


def deliver(text: str, output: Path | None) -> None:
    """Print the result, or write it to `output` and say so."""
    if output is None:
        typer.echo(text)
    else:
        write(text, output)


def write(text: str, output: Path) -> None:
    """Write the file whole or not at all, and say so."""
    from gnomon.plots.files import write_whole

    write_whole(output, (text.rstrip("\n") + "\n").encode())
    say_written(output)


def require_writable(output: Path | None) -> None:
    """Raise before the work is done when its result could not be written."""
    if output is not None:
        from gnomon.plots.files import try_writing

        try_writing(output)


@contextmanager
def stdout_for_the_result() -> Iterator[None]:
    """What the target's own code prints while it is examined, in this process or one it starts, goes to stderr."""
    sys.stdout.flush()
    try:
        kept = os.dup(1)
        os.dup2(2, 1)
    except OSError:  # there is no stdout, or no stderr, to tell apart
        kept = None
    printed_to = sys.stdout
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        printed_to.flush()  # code that kept a hold of the old stdout
        if kept is not None:
            os.dup2(kept, 1)
            os.close(kept)


def say_written(output: Path) -> None:
    typer.echo(f"gnomon: wrote {output}", err=True)
