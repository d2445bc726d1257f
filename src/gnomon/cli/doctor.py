"""`gnomon doctor`: examine a target, print the verdict, end with 1 when there are findings at error level."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from gnomon.cli.output import deliver, require_writable, say_written, stdout_for_the_result
from gnomon.cli.progress import show_progress

if TYPE_CHECKING:
    from gnomon.report.document import Report

Format = Literal["text", "json", "html", "github"]
DType = Literal["float64", "float32", "bfloat16", "float16"]
DEFAULT_PAGE = Path("gnomon-report.html")

Target = Annotated[
    str,
    typer.Argument(help="A Hugging Face folder, config.json, .safetensors or .gguf file, or package.module:factory."),
]
Pickle = Annotated[
    bool, typer.Option("--allow-pickle", help="Read .bin checkpoints too, with torch's weights_only loader.")
]
NoForward = Annotated[bool, typer.Option("--no-forward", help="Read files only; run no model.")]
Output = Annotated[Path | None, typer.Option("--output", "-o", help="Write to this file instead of stdout.")]


def doctor(
    target: Target,
    select: Annotated[str | None, typer.Option(help="Only checks whose code starts so: PE1,PE301.")] = None,
    ignore: Annotated[str | None, typer.Option(help="All but checks whose code starts so.")] = None,
    format: Annotated[
        Format, typer.Option(help=f"How to write the report; html goes to --output or {DEFAULT_PAGE}.")
    ] = "text",
    output: Output = None,
    device: Annotated[str | None, typer.Option(help="Run forward passes there: cpu, cuda, cuda:1, mps.")] = None,
    dtype: Annotated[DType | None, typer.Option(help="Load the weights in this dtype.")] = None,
    no_forward: NoForward = False,
    allow_pickle: Pickle = False,
) -> None:
    """Examine a model's position encodings and say what is wrong."""
    if output is None and format == "html":
        output = DEFAULT_PAGE
    require_writable(output)
    from gnomon.doctor import diagnose

    with stdout_for_the_result(), show_progress() as progress:
        report = diagnose(
            target,
            select=select,
            ignore=ignore,
            device=device,
            dtype=dtype,
            forward=not no_forward,
            allow_pickle=allow_pickle,
            progress=progress,
        )
    _deliver(report, format, output)
    raise typer.Exit(report.exit_code)


def _deliver(report: "Report", format: Format, output: Path | None) -> None:
    if format == "html" and output is not None:
        report.to_html(str(output))
        say_written(output)
    elif format == "json":
        deliver(report.to_json(), output)
    elif format == "github":
        from gnomon.report.github import render_github

        deliver(render_github(report), output)
    else:
        from gnomon.report.text import render_text

        deliver(render_text(report, color=output is None and _in_color()), output)


def _in_color() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")
