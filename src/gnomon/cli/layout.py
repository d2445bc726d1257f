"""`gnomon layout`: which lanes the rows of a checkpoint are paired for, and the rows moved to the other pairs."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from gnomon.cli.output import deliver, require_writable, stdout_for_the_result
from gnomon.cli.remains import tell_of_remains
from gnomon.cli.termination import cleaned_up_on_signals
from gnomon.report.plain import as_json

Format = Literal["text", "json"]
Layout = Literal["half", "interleaved"]
LARGEST_TEXT = 2**20  #: characters

layout = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


@layout.callback()
def command() -> None:
    """Half or interleaved pairs of rotated lanes: tell which, and move rows to the other."""


@layout.command("detect")
def detect(
    target: Annotated[
        str, typer.Argument(help="A Hugging Face folder, config.json, .gguf file, or package.module:factory.")
    ],
    text: Annotated[
        Path | None, typer.Option(help="A text file that the model can predict; by default a paragraph of English.")
    ] = None,
    reference: Annotated[
        str | None, typer.Option(help="A model whose outputs are right, or whose layout is known.")
    ] = None,
    tokenizer: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="A folder with the model's tokenizer, where its own has none.")
    ] = None,
    format: Annotated[Format, typer.Option(help="How to write the result.")] = "text",
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write to this file.")] = None,
    device: Annotated[str | None, typer.Option(help="Run forward passes there: cpu, cuda, cuda:1, mps.")] = None,
    no_forward: Annotated[bool, typer.Option("--no-forward", help="Read files only; run no model.")] = False,
) -> None:
    """Tell which pairs of lanes the query and key rows are for; ends with 1 when the evidence disagrees."""
    require_writable(output)
    from gnomon.adapters.tokenizers import read_text
    from gnomon.layouts import detect as detected

    words = None if text is None else read_text(text, most=LARGEST_TEXT)
    with stdout_for_the_result():
        found = detected(
            target, text=words, reference=reference, tokenizer=tokenizer, device=device, forward=not no_forward
        )
    deliver(found.to_text() if format == "text" else as_json(found.to_dict()), output)
    raise typer.Exit(found.exit_code)


@layout.command("permute")
def permute(
    checkpoint: Annotated[Path, typer.Argument(help="A folder with safetensors: a model or a LoRA adapter.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder to write; it must not exist yet.")],
    to: Annotated[Layout, typer.Option(help="The pairs that the rows are to be arranged for.")],
    came_from: Annotated[
        Layout | None, typer.Option("--from", help="The pairs they are arranged for now, if not those of the family.")
    ] = None,
    program: Annotated[
        str | None,
        typer.Option(
            "--for",
            metavar="NAME",
            help="The program that will run the result, where the model's class in transformers cannot: torchtune ...",
        ),
    ] = None,
    config: Annotated[Path | None, typer.Option(help="For an adapter: the config.json of its base model.")] = None,
    format: Annotated[Format, typer.Option(help="How to write what was done.")] = "text",
) -> None:
    """Write a checkpoint with query and key rows moved to the other pairs; scores are compared before it appears."""
    from gnomon.layouts import permute as permuted

    tell_of_remains(output, _say)
    with cleaned_up_on_signals():
        done = permuted(checkpoint, output, to=to, came_from=came_from, program=program, config=config, progress=_say)
    if format == "json":
        deliver(as_json(done.to_dict()), None)
        return
    left = f"Left behind: {', '.join(done.left_behind)}." if done.left_behind else ""
    deliver("\n".join(filter(None, (f"{done.output}: {done.came_from} -> {done.to}", *done.words, left))), None)


def _say(what: str) -> None:
    """Files only: there are hundreds of tensors."""
    if what.endswith(".safetensors"):
        typer.echo(f"gnomon: {what}", err=True)
