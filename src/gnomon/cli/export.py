"""`gnomon export`: write a model as an ONNX graph that was compared with it; end with 1 when it is not the model."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from gnomon.cli.doctor import DType
from gnomon.cli.output import require_writable, stdout_for_the_result
from gnomon.cli.termination import cleaned_up_on_signals
from gnomon.errors import GnomonError

if TYPE_CHECKING:
    from gnomon.exporting import Exported

Target = Annotated[str, typer.Argument(help="A Hugging Face folder, or package.module:factory.")]
Output = Annotated[Path, typer.Option("--output", "-o", metavar="FILE.onnx", help="Where the graph goes.")]
Opset = Annotated[int | None, typer.Option(help="ONNX operator set, 18 to 23; by default 20, or 23 where needed.")]
Rotations = Annotated[
    Literal["arithmetic", "operator"],
    typer.Option(help="Rotations as plain arithmetic, or as RotaryEmbedding of opset 23."),
]
MaxLength = Annotated[int, typer.Option(help="Tables of formulas have rows for so many positions.")]
Lengths = Annotated[str, typer.Option(metavar="N,N", help="Compare the graph with the model at these two lengths.")]
WithCache = Annotated[bool, typer.Option("--cache", help="Keys and values as inputs and outputs, to decode with.")]
CastTo = Annotated[DType | None, typer.Option(help="Export the weights in this dtype.")]
NoCheck = Annotated[bool, typer.Option("--no-check", help="Write the graph without running it.")]
Keep = Annotated[bool, typer.Option("--keep", help="Write the graph even where it differs from the model.")]
Format = Annotated[Literal["text", "json"], typer.Option(help="How to write what was measured.")]


def export(
    target: Target,
    output: Output,
    opset: Opset = None,
    rotary: Rotations = "arithmetic",
    max_length: MaxLength = 4096,
    lengths: Lengths = "7,19",
    cache: WithCache = False,
    dtype: CastTo = None,
    no_check: NoCheck = False,
    keep: Keep = False,
    format: Format = "text",
) -> None:
    """Write a model as an ONNX graph, checked against the model.

    Batch and length stay open.
    """
    both = _lengths(lengths)
    require_writable(output)
    from gnomon.exporting import WrongExportError, export

    with cleaned_up_on_signals(), stdout_for_the_result():
        try:
            exported = export(
                target,
                output,
                opset=opset,
                rotary=rotary,
                max_length=max_length,
                lengths=both,
                cache=cache,
                dtype=dtype,
                check=not no_check,
                keep=keep,
            )
            kept = True
        except WrongExportError as error:
            exported, kept = error.exported, False
    typer.echo(exported.to_json() if format == "json" else _text(exported, kept=kept))
    raise typer.Exit(0 if exported.ok else 1)


def _lengths(text: str) -> tuple[int, int]:
    try:
        first, second = (int(part) for part in text.split(","))
    except ValueError:
        raise GnomonError(f"--lengths are two numbers, as in 7,19; got {text!r}.") from None
    return first, second


def _text(exported: "Exported", *, kept: bool) -> str:
    """What was written, what it takes and gives, and how far it is from the model."""
    said = "wrote" if kept else "NOT written, it is not the model:"
    lines = [f"{said} {exported.path} (opset {exported.opset}), from {exported.target}"]
    for heading, ports in (("inputs", exported.inputs), ("outputs", exported.outputs)):
        lines += ["", heading]
        lines += [f"  {p.name:24} {p.dtype:8} ({', '.join(str(size) for size in p.shape)})" for p in ports]
    if exported.encodings:
        lines += ["", "encodings", *(f"  {kind:24} {form}" for kind, form in exported.encodings)]
    if not exported.checks:
        return "\n".join([*lines, "", "The graph was not run."])
    lines += ["", "onnxruntime against the model, largest difference as a share of the largest output"]
    for check in exported.checks:
        measured = check.failure or f"{check.difference:.1e}"
        lines.append(
            f"  {check.case!s:52} {measured}" + ("" if check.ok else f"   WRONG, allowed {check.tolerance:.0e}")
        )
    return "\n".join(lines)
