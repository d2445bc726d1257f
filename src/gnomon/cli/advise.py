"""`gnomon advise`: which encoding for which task, data and machine, with the arithmetic shown."""

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from gnomon.cli.doctor import Lengths, Output, in_color
from gnomon.cli.output import deliver, require_writable, stdout_for_the_result
from gnomon.errors import GnomonError

if TYPE_CHECKING:
    from gnomon.report.advice.document import Advice

WIDEST = 100  #: text is hard to read in longer lines
TASKS = (
    "classification, tagging, pairs, language-model, translation, summarisation, retrieval, long-context, code, "
    "images, "
    "video, vision-language, algorithmic"
)
LIMITS = "flash-attention, no-bias, no-custom-kernels, onnx, torch-compile"

Flag = bool | None

Task = Annotated[str | None, typer.Option(help=f"What the model is for: {TASKS}.")]
Causal = Annotated[
    Flag, typer.Option("--causal/--no-causal", help="The model looks only backwards, or sees both sides.")
]
Relative = Annotated[bool, typer.Option("--relative", help="Distances between tokens decide the answer.")]
Absolute = Annotated[bool, typer.Option("--absolute", help="Places in the input decide the answer.")]
Trained = Annotated[int | None, typer.Option(help="Longest input in training, in tokens.")]
Target = Annotated[int | None, typer.Option(help="Longest input to be served, in tokens.")]
Unlimited = Annotated[bool, typer.Option("--unlimited", help="Inputs have no longest length.")]
Percentile = Annotated[
    list[str] | None, typer.Option(metavar="P=TOKENS", help="A percentile of the lengths, as in 90=300; repeatable.")
]
P50 = Annotated[int | None, typer.Option("--p50", help="The middle length.")]
P95 = Annotated[int | None, typer.Option("--p95", help="The length that 95 of 100 inputs do not exceed.")]
Longest = Annotated[int | None, typer.Option("--max", help="The longest input of the data.")]
NoCut = Annotated[bool, typer.Option("--no-cut", help="No input may be cut.")]
Start = Annotated[
    str | None, typer.Option(metavar="TARGET", help="Start from this Hugging Face folder, config.json or .gguf file.")
]
Family = Annotated[str | None, typer.Option(help="Start from a model of this type, such as llama or bert.")]
FineTune = Annotated[
    Flag, typer.Option("--fine-tune/--no-fine-tune", help="A checkpoint may be trained further, or not.")
]
Where = Annotated[Literal["edge", "server"] | None, typer.Option(help="Where the model will run.")]
DataSize = Annotated[
    str | None, typer.Option(metavar="N", help="Training data: a number of examples, or of tokens as in 2000000t.")
]
Kernels = Annotated[str | None, typer.Option(help=f"What attention or deployment is limited to: {LIMITS}.")]
Dim = Annotated[int | None, typer.Option(help="Width of the model.")]
Heads = Annotated[int | None, typer.Option(help="Heads of attention.")]
HeadDim = Annotated[int | None, typer.Option(help="Width of a head.")]
KeyHeads = Annotated[int | None, typer.Option(help="Heads of keys and values, where queries share them.")]
Layers = Annotated[int | None, typer.Option(help="Layers; the cache of keys and values is worked out from them.")]
Batch = Annotated[int | None, typer.Option(help="Sequences served at once.")]
DType = Annotated[Literal["float32", "bfloat16", "float16"], typer.Option(help="Of weights and cache.")]
Measured = Annotated[Path | None, typer.Option(help="A JSON file of facts that you measured.")]
Explain = Annotated[bool, typer.Option("--explain", help="Show the rules that fired, and on what.")]
Format = Annotated[Literal["text", "json"], typer.Option(help="How to write the advice.")]


def advise(
    task: Task = None,
    causal: Causal = None,
    relative: Relative = False,
    absolute: Absolute = False,
    trained: Trained = None,
    target: Target = None,
    unlimited: Unlimited = False,
    lengths: Lengths = None,
    percentile: Percentile = None,
    p50: P50 = None,
    p95: P95 = None,
    longest: Longest = None,
    no_cut: NoCut = False,
    checkpoint: Start = None,
    family: Family = None,
    fine_tune: FineTune = None,
    device: Where = None,
    data_size: DataSize = None,
    kernels: Kernels = None,
    dim: Dim = None,
    heads: Heads = None,
    head_dim: HeadDim = None,
    key_heads: KeyHeads = None,
    layers: Layers = None,
    batch: Batch = None,
    dtype: DType = "bfloat16",
    measured: Measured = None,
    explain: Explain = False,
    format: Format = "text",
    output: Output = None,
) -> None:
    """Recommend encodings for a task, with costs, risks and sources."""
    require_writable(output)
    from gnomon.advisor import ModelSizes, advise

    with stdout_for_the_result():
        advice = advise(
            task,
            causal=causal,
            need=_need(relative=relative, absolute=absolute),
            trained=trained,
            target=target,
            lengths=lengths,
            percentiles=_percentiles(percentile or [], {50: p50, 95: p95, 100: longest}),
            unlimited=unlimited,
            cut=not no_cut,
            checkpoint=checkpoint,
            family=family,
            fine_tune=fine_tune,
            device=device,
            limits=[] if kernels is None else [word.strip() for word in kernels.split(",")],
            sizes=ModelSizes(dim, heads, head_dim, layers, key_heads, batch, dtype),
            measured=measured,
            **_data(data_size),
        )
    _deliver(advice, format, output, explain=explain)


def _deliver(advice: "Advice", format: str, output: Path | None, *, explain: bool) -> None:
    from gnomon.report.advice.text import render_advice

    if format == "json":
        deliver(advice.to_json(), output)
        return
    color = output is None and in_color()
    deliver(render_advice(advice, explain=explain, color=color, width=_width(output)), output)


def _need(*, relative: bool, absolute: bool) -> str | None:
    if relative and absolute:
        raise GnomonError(
            "--relative and --absolute exclude each other: one kind of position decides; give one, or neither."
        )
    return "relative" if relative else "absolute" if absolute else None


def _percentiles(pairs: list[str], named: dict[int, int | None]) -> dict[int, int]:
    """`95=480` words and the options for usual ones as one mapping."""
    found = {percent: length for percent, length in named.items() if length is not None}
    for pair in pairs:
        percent, _, length = pair.partition("=")
        try:
            key, value = int(percent), int(length)
        except ValueError:
            raise GnomonError(f"A percentile is P=TOKENS, as in --percentile 95=480; got {pair!r}.") from None
        if found.setdefault(key, value) != value:
            raise GnomonError(f"Percentile {key} is given twice, as {found[key]} and {value}.")
    return found


def _data(size: str | None) -> dict[str, Any]:
    """The size of the data: a whole number of examples, or of tokens with a t after it."""
    if size is None:
        return {}
    word = size.strip().lower()
    name = "tokens" if word.endswith("t") else "examples"
    try:
        return {name: int(word.removesuffix("t"))}
    except ValueError:
        raise GnomonError(f"--data-size is a number of examples, or of tokens as in 2000000t; got {size!r}.") from None


def _width(output: Path | None) -> int:
    """The terminal's columns, up to what is comfortable; the usual 80 where the output is read by a program."""
    if output is None and sys.stdout.isatty():
        return max(40, min(WIDEST, shutil.get_terminal_size().columns))
    return 80
