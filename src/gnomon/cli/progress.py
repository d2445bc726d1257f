"""Progress on stderr: a moving bar on a terminal, one plain line for each step elsewhere."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Progress = Callable[[str, str, int, int], None]


@contextmanager
def show_progress() -> Iterator[Progress]:
    """Yield what the doctor calls before each check: (code, name, done, total)."""
    if moving():
        with _bar() as report:
            yield report
    else:
        yield _line


def moving() -> bool:
    """Whether stderr is a terminal whose user wants something that moves."""
    return sys.stderr.isatty() and not os.environ.get("NO_COLOR") and not os.environ.get("CI")


def _line(code: str, name: str, done: int, total: int) -> None:
    if done < total:
        print(f"[{done + 1}/{total}] {code} {name}", file=sys.stderr, flush=True)


@contextmanager
def _bar() -> Iterator[Progress]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (BarColumn(bar_width=20), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("starting", total=None)

        def report(code: str, name: str, done: int, total: int) -> None:
            bar.update(task, description=f"{code} {name}", completed=done, total=total)

        yield report
