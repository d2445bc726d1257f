"""`gnomon extend`: a checkpoint for longer contexts, shown to every stack before it is written."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from gnomon.cli.output import stdout_for_the_result
from gnomon.cli.termination import cleaned_up_on_sigterm
from gnomon.errors import GnomonError

if TYPE_CHECKING:
    from gnomon.extending.asked import Asked
    from gnomon.extending.checking import Checked
    from gnomon.extending.extended import Extended
    from gnomon.extending.searching.results import Searched

Checkpoint = Annotated[Path, typer.Argument(help="A folder with config.json and safetensors, or a .gguf file.")]
To = Annotated[
    str, typer.Option("--to", metavar="N", help="Tokens to serve; 30x20 patches or 480x320px for an image model.")
]
Method = Annotated[
    Literal[
        "auto", "linear", "ntk", "yarn", "longrope", "dynamic", "interpolate", "tile", "keep-first", "hierarchical"
    ],
    typer.Option(help="linear to dynamic for rotary models, the others for tables of positions."),
]
Output = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="OUT", help="The new folder, or .gguf file, to write.")
]
Original = Annotated[int | None, typer.Option(metavar="N", help="The trained length, where the config lies.")]
Kind = Annotated[str, typer.Option(help="How tables are interpolated: auto, linear, cubic, bicubic ...")]
Keep = Annotated[int | None, typer.Option(metavar="N", help="Positions that keep-first leaves alone.")]
Optimizer = Annotated[bool, typer.Option("--optimizer", help="Stretch the optimizer's moments of a table too.")]
WithGGUF = Annotated[bool, typer.Option("--gguf", help="Extend the GGUF files in the folder too.")]
Force = Annotated[bool, typer.Option("--force", help="Write it even where no stack could serve it.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would be done, and write nothing.")]
Check = Annotated[
    Path | None, typer.Option(metavar="TEXT", help="Measure before and after on this text, at several lengths.")
]
Search = Annotated[
    int | None, typer.Option(metavar="BUDGET", help="Search LongRoPE's divisors with so many trials, on --text.")
]
Text = Annotated[Path | None, typer.Option("--text", metavar="FILE", help="The text that a search measures on.")]
Seed = Annotated[int, typer.Option(help="The seed of the search.")]
Format = Annotated[Literal["text", "json"], typer.Option(help="How to write what was done.")]


def extend(
    checkpoint: Checkpoint,
    to: To,
    method: Method = "auto",
    output: Output = None,
    original: Original = None,
    kind: Kind = "auto",
    keep: Keep = None,
    optimizer: Optimizer = False,
    gguf: WithGGUF = False,
    force: Force = False,
    dry_run: DryRun = False,
    check: Check = None,
    search: Search = None,
    text: Text = None,
    seed: Seed = 0,
    format: Format = "text",
) -> None:
    """Make a checkpoint for longer contexts.

    Rotary models get other frequencies (by their config), others longer tables; all other tensors are copied. Scaling
    that is there already is gone on with, from the original length. What each stack will make of it is printed first.
    """
    _require_together(output, dry_run, check, search, text)
    from gnomon.extending.asked import Asked
    from gnomon.extending.extending import prepare
    from gnomon.extending.stacks import require_served
    from gnomon.extending.tables.options import Options

    with cleaned_up_on_sigterm(), stdout_for_the_result():
        asked = Asked(
            _size(to, checkpoint),
            method,
            original,
            tables=Options(kind=kind, keep=keep),
            optimizer=optimizer,
            gguf=gguf,
        )
        more: dict[str, Any] = {}
        if search is not None and text is not None:
            more["search"] = _searched(checkpoint, asked, search, text, seed)
            asked = _with_lists(asked, more["search"])
        prepared = prepare(checkpoint, asked)
        done = prepared.shown
        if output is not None and not dry_run:
            prepared.require_output(output)
            if format == "text":
                typer.echo(f"{done}\n", err=True)
            if not force:
                require_served(done.stacks)
            done = prepared.write(output, _tell)
            if check is not None:
                more["check"] = _checked(checkpoint, output, check)
    typer.echo(_json(done, more) if format == "json" else _text(done, more))


def _require_together(
    output: Path | None, dry_run: bool, check: Path | None, search: int | None, text: Path | None
) -> None:
    if output is None and not dry_run:
        raise GnomonError("Name the new folder with -o OUT, or see what would be done with --dry-run.")
    if (search is None) != (text is None):
        raise GnomonError("A search needs a budget and a text: --search BUDGET --text FILE.")
    if check is not None and dry_run:
        raise GnomonError("--check measures what was written, so it does not go with --dry-run.")
    for path in (check, text):
        if path is not None and not path.is_file():
            raise GnomonError(f"There is no text file {path}.")


def _size(to: str, checkpoint: Path) -> int | tuple[int, int]:
    if to.isdecimal() and len(to) < 12:
        return int(to)
    from gnomon.adapters.checkpoints.huggingface import folder_config
    from gnomon.extending.tables.asked import asked

    return asked(to, folder_config(checkpoint) if checkpoint.is_dir() else {})


def _searched(checkpoint: Path, asked: "Asked", budget: int, text: Path, seed: int) -> "Searched":
    from gnomon.extending.searching.running import search

    if not isinstance(asked.to, int) or asked.method not in ("auto", "longrope"):
        raise GnomonError("A search is for LongRoPE's divisors of a rotary model: --method longrope --to N.")
    return search(
        checkpoint, text, to=asked.to, budget=budget, seed=seed, original=asked.original, progress=_tell_progress
    )


def _with_lists(asked: "Asked", found: "Searched") -> "Asked":
    from dataclasses import replace

    from gnomon.extending.rotary.methods.longrope import Lists

    lists = Lists(tuple(found.short_factor), tuple(found.long_factor), found.attention_factor)
    return replace(asked, method="longrope", lists=lists)


def _checked(before: Path, after: Path, text: Path) -> "Checked":
    from gnomon.extending.checking import check

    return check(before, after, text, progress=_tell_progress)


def _tell_progress(_read: int, _all: int, said: str) -> None:
    _tell(said)


def _tell(said: str) -> None:
    typer.echo(f"gnomon: {said}", err=True)


def _json(done: "Extended", more: Mapping[str, Any]) -> str:
    found = done.to_dict() | {name: one.to_dict() for name, one in more.items()}
    return json.dumps(found, indent=2, ensure_ascii=False)


def _text(done: "Extended", more: Mapping[str, Any]) -> str:
    """After writing only what was written: the rest was said before."""
    from gnomon.extending.text import written_text

    said = str(done) if done.output is None else written_text(done)
    return "\n\n".join((said, *map(str, more.values())))
