"""`gnomon doctor`: examine a target, print the verdict, end with 1 when there are findings at error level."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from gnomon.cli.output import deliver, require_writable, say_written, stdout_for_the_result, write
from gnomon.cli.progress import show_progress
from gnomon.errors import GnomonError

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
Baseline = Annotated[Path | None, typer.Option(help="Findings that this file lists are known and fail no build.")]

Update = Annotated[
    bool, typer.Option("--update-baseline", help="Write what is found to the baseline file, and end with 0.")
]
Twin = Annotated[bool, typer.Option("--twin", help="Run a small model of the config instead of the whole one.")]
Thorough = Annotated[
    bool, typer.Option("--thorough", help="Run the checks that take long too: compilation, export, layout by loss.")
]
Causal = Annotated[
    bool | None, typer.Option("--causal/--no-causal", help="The model is meant to look only backwards, or not to.")
]
Reference = Annotated[
    str | None, typer.Option(help="The model or config before it was converted, extended or exported.")
]
Lengths = Annotated[
    Path | None, typer.Option(help="How many tokens each example has: a number a line, JSON, or JSONL.")
]


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
    twin: Twin = False,
    thorough: Thorough = False,
    causal: Causal = None,
    reference: Reference = None,
    lengths: Lengths = None,
    baseline: Baseline = None,
    update_baseline: Update = False,
) -> None:
    """Examine a model's position encodings and say what is wrong."""
    if output is None and format == "html":
        output = DEFAULT_PAGE
    require_writable(output)
    known = _known(baseline, update=update_baseline)
    given = _evidence(causal=causal, reference=reference, lengths=lengths)
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
            twin=twin,
            thorough=thorough,
            progress=progress,
            **given,
        )
    from gnomon.report.baseline import findings_of, with_known, write_baseline

    if baseline is not None and update_baseline:
        write(write_baseline(report), baseline)
        known = findings_of(report)
    report = with_known(report, known)
    _deliver(report, format, output)
    raise typer.Exit(report.exit_code)


def _known(baseline: Path | None, *, update: bool) -> "frozenset[tuple[str, str, str]]":
    """What the baseline lists; raises before the work is done when it cannot be read, or written."""
    if update and baseline is None:
        raise GnomonError("--update-baseline needs --baseline FILE, the file to write.")
    if update or baseline is None:
        require_writable(baseline)
        return frozenset()
    from gnomon.report.baseline import read_baseline

    return read_baseline(baseline)


def _evidence(*, causal: bool | None, reference: str | None, lengths: Path | None) -> dict[str, object]:
    """What the options say beside the target, by the names that `gnomon.diagnose` knows."""
    given: dict[str, object] = {"causal": causal, "reference": reference}
    if lengths is not None:
        from gnomon.adapters.lengths import read_lengths

        given["lengths"] = read_lengths(lengths)
    return {name: value for name, value in given.items() if value is not None}


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

        deliver(render_text(report, color=output is None and in_color()), output)


def in_color() -> bool:
    """Whether stdout is a terminal whose user wants colours."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")
