"""`gnomon bench`: speed and memory as ratios, measured side by side on this machine."""

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from gnomon.cli.doctor import Output
from gnomon.cli.output import deliver, require_writable, stdout_for_the_result, write
from gnomon.errors import GnomonError

if TYPE_CHECKING:
    from gnomon.bench.timing import Timing

WIDEST = 110  #: columns of a table on a terminal
NONE = "none"

Name = Annotated[
    str | None, typer.Argument(help="Which benchmark; all without a name. `gnomon list benches` lists them.")
]
Quick = Annotated[bool, typer.Option("--quick", help="Small sizes and few rounds: all of it in about 2 minutes.")]
Threads = Annotated[
    str,
    typer.Option(metavar="N,...", help="With how many threads each cell is measured, whatever OMP_NUM_THREADS says."),
]
Rounds = Annotated[int | None, typer.Option(min=3, help="Numbers for each way; 7, or 5 with --quick, by default.")]
Tokens = Annotated[int | None, typer.Option(min=16, help="Length of the input of long-context; 10000 by default.")]
Peers = Annotated[
    str | None,
    typer.Option(metavar="NAME,...", help="Libraries to compare with, or none; all that are installed by default."),
]
Format = Annotated[Literal["text", "json"], typer.Option(help="How to write the result.")]
Json = Annotated[Path | None, typer.Option("--json", help="Write the numbers of this run to this file too, as JSON.")]


def bench(
    name: Name = None,
    quick: Quick = False,
    threads: Threads = "1,2",
    rounds: Rounds = None,
    tokens: Tokens = None,
    peers: Peers = None,
    format: Format = "text",
    output: Output = None,
    json: Json = None,
) -> None:
    """Measure speed and memory, as ratios, on this machine.

    Every way to do a thing is measured beside a baseline and other libraries, and targets are held against the numbers.
    """
    for file in (output, json):
        require_writable(file)
    counts = _counts(threads)
    from gnomon.bench.cell import Request, registry

    if tokens is not None and name != "long-context":
        raise GnomonError("--tokens is the length of long-context; name that benchmark, or leave the option out.")
    names = registry.names() if name is None else [name]
    request = Request(quick=quick, peers=_peers(peers), tokens=tokens)
    command = " ".join(["gnomon", *sys.argv[1:]])
    from gnomon.bench.running import run
    from gnomon.report.bench.text import render_text

    with stdout_for_the_result():
        found = run(names, request, threads=counts, command=command, timing=_timing(quick, rounds), tell=_tell)
    if json is not None:
        write(found.to_json(), json)
    deliver(found.to_json() if format == "json" else render_text(found, width=_width(output)), output)


def _counts(threads: str) -> list[int]:
    """1,2 as numbers, the smallest first, each once."""
    try:
        counts = sorted({int(word) for word in threads.split(",")})
    except ValueError:
        counts = [0]
    if counts[0] < 1:
        raise GnomonError(
            f"--threads takes whole numbers of at least 1 with commas between, as in 1,2; got {threads!r}."
        )
    return counts


def _peers(words: str | None) -> tuple[str, ...]:
    from gnomon.bench.peers.installed import PACKAGES, installed

    if words is None:
        return installed()
    names = () if words == NONE else tuple(word.strip() for word in words.split(","))
    unknown = [name for name in names if name not in PACKAGES]
    if unknown:
        raise GnomonError(f"No peer is called {unknown[0]!r}; known are {', '.join(PACKAGES)}, and {NONE}.")
    return names


def _timing(quick: bool, rounds: int | None) -> "Timing":
    from dataclasses import replace

    from gnomon.bench.running import FULL, QUICK

    timing = QUICK if quick else FULL
    return timing if rounds is None else replace(timing, rounds=rounds)


def _tell(name: str, words: str) -> None:
    """One plain line on stderr before each cell: a moving bar would take time from what is measured."""
    print(f"{name}: {words}", file=sys.stderr, flush=True)


def _width(output: Path | None) -> int:
    if output is None and sys.stdout.isatty():
        return max(40, min(WIDEST, shutil.get_terminal_size().columns))
    return WIDEST
