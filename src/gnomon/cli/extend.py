"""`gnomon extend`: a checkpoint for longer contexts, shown to every stack before it is written."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from gnomon.cli.extend_measuring import Measuring
from gnomon.cli.output import stdout_for_the_result
from gnomon.cli.remains import tell_of_remains
from gnomon.cli.termination import cleaned_up_on_signals
from gnomon.errors import GnomonError

if TYPE_CHECKING:
    from gnomon.extending.asked import Asked
    from gnomon.extending.extended import Extended
    from gnomon.extending.prepared import Prepared

Checkpoint = Annotated[Path, typer.Argument(help="A folder with config.json and safetensors, or a .gguf file.")]
To = Annotated[
    str,
    typer.Option(metavar="N", help="Tokens to serve; for an image model HEIGHTxWIDTH: 30x20 patches or 480x320px."),
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
Kind = Annotated[
    str, typer.Option(help="How tables are interpolated: linear, cubic; for grids and windows bicubic, bilinear ...")
]
Keep = Annotated[
    int | None, typer.Option(metavar="N", help="Positions that keep-first leaves alone; a quarter of them by default.")
]
Alpha = Annotated[float | None, typer.Option(help="Share of the first digit in the hierarchical way; 0.4 by default.")]
Part = Annotated[
    Literal["encoder", "decoder"] | None, typer.Option(help="Of a model with two tables, the one to extend: decoder.")
]
Optimizer = Annotated[bool, typer.Option("--optimizer", help="Stretch the optimizer's moments of a table too.")]
WithGGUF = Annotated[bool, typer.Option("--gguf", help="Extend the GGUF files in the folder too.")]
Force = Annotated[bool, typer.Option("--force", help="Write it even where no engine could serve it.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would be done, and write nothing.")]
Stacks = Annotated[
    str | None, typer.Option("--stack", metavar="A,B", help="Ask these engines only: vllm,hf4@4.43,sglang@all.")
]
Check = Annotated[
    Path | None, typer.Option(metavar="TEXT", help="Measure before and after on this text, at several lengths.")
]
CheckLengths = Annotated[
    list[int] | None, typer.Option("--check-length", metavar="N", help="Measure rows of N tokens; repeatable.")
]
CheckFigure = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Draw the losses by place there: .png, .svg or .html.")
]
Search = Annotated[
    int | None, typer.Option(metavar="BUDGET", help="Search LongRoPE's divisors with so many trials, on --text.")
]
SearchLength = Annotated[
    int | None, typer.Option(metavar="N", help="Try them on rows of N tokens; by default of those of --to.")
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
    alpha: Alpha = None,
    part: Part = None,
    optimizer: Optimizer = False,
    gguf: WithGGUF = False,
    stack: Stacks = None,
    force: Force = False,
    dry_run: DryRun = False,
    check: Check = None,
    check_length: CheckLengths = None,
    check_figure: CheckFigure = None,
    search: Search = None,
    search_length: SearchLength = None,
    text: Text = None,
    seed: Seed = 0,
    format: Format = "text",
) -> None:
    """Make a checkpoint for longer contexts.

    Rotary models get other frequencies (by their config), others longer tables; all other tensors are copied. Scaling
    that is there already is gone on with, from the original length. What each engine will make of it is printed first.
    """
    measuring = Measuring(check, tuple(check_length or ()), check_figure, search, search_length, text, seed)
    measuring.require_together(writes=output is not None and not dry_run)
    if output is None and not dry_run:
        raise GnomonError("Name the new folder with -o OUT, or see what would be done with --dry-run.")
    target = None if dry_run else output
    from gnomon.extending.asked import Asked
    from gnomon.extending.tables.options import Options

    more: dict[str, Any] = {}
    with cleaned_up_on_signals():
        with stdout_for_the_result():
            tables = Options(kind=kind, keep=keep, alpha=alpha, part=part)
            size = _size(to, checkpoint)
            asked = Asked(size, method, original, None, tables, optimizer, gguf, stack)
            prepared = _prepared(checkpoint, asked, target, measuring, more)
            done = prepared.shown if target is None else _written(prepared, target, force=force, quiet=format == "json")
        if format == "text":
            _say(done, more)
        if target is not None and check is not None:
            _tell(f"wrote {target}, and checks it now; it is whole and stays, however the check ends")
            with stdout_for_the_result():
                more["check"] = measuring.checked(checkpoint, target, _tell)
            if format == "text":
                typer.echo(f"\n{more['check']}")
    if format == "json":
        typer.echo(_json(done, more))


def _prepared(
    checkpoint: Path, asked: "Asked", target: Path | None, measuring: Measuring, more: dict[str, Any]
) -> "Prepared":
    """What would end the run is asked first: the extension, its output, the texts; only then is searched."""
    from gnomon.extending.extending import prepare

    prepared = prepare(checkpoint, measuring.aimed(asked))
    if target is not None:
        prepared.require_output(target)
        tell_of_remains(target, _tell)
    measuring.require_texts(checkpoint, asked)
    if measuring.budget is None:
        return prepared
    more["search"] = measuring.searched(checkpoint, asked, _tell)
    return prepare(checkpoint, measuring.with_lists(asked, more["search"]))


def _written(prepared: "Prepared", target: Path, *, force: bool, quiet: bool) -> "Extended":
    from gnomon.extending.stacks import require_served
    from gnomon.extending.text import text_of

    if not quiet:
        typer.echo(text_of(prepared.shown, "this will be written") + "\n", err=True)
    if not force:
        require_served(prepared.shown.stacks)
    return prepared.write(target, _tell)


def _size(to: str, checkpoint: Path) -> int | tuple[int, int]:
    if to.isdecimal() and len(to) < 12:
        return int(to)
    from gnomon.adapters.checkpoints.huggingface import folder_config
    from gnomon.extending.tables.asked import asked

    return asked(to, folder_config(checkpoint) if checkpoint.is_dir() else {})


def _tell(said: str) -> None:
    typer.echo(f"gnomon: {said}", err=True)


def _json(done: "Extended", more: dict[str, Any]) -> str:
    from gnomon.report.plain import as_json

    return as_json(done.to_dict() | {name: one.to_dict() for name, one in more.items()})


def _say(done: "Extended", more: dict[str, Any]) -> None:
    """After writing only what was written: the rest was said before."""
    from gnomon.extending.text import written_text

    said = str(done) if done.output is None else written_text(done)
    typer.echo("\n\n".join((said, *map(str, more.values()))))
