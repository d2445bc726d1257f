"""A whole model on a long input, step by step from naive positions to what gnomon does."""

from collections.abc import Iterator
from typing import Any, Final

from gnomon.bench.cell import Cell, Request, registry
from gnomon.bench.long_context import decoder_steps, encoder_steps
from gnomon.bench.long_context.measuring import CODE
from gnomon.bench.long_context.model import DECODER, ENCODER, Sizes
from gnomon.bench.memory import available, can_measure, in_fresh_process
from gnomon.bench.targets import Target
from gnomon.errors import GnomonError
from gnomon.report.bench.results import MIB, Row

TOKENS, QUICK_TOKENS, TINY_TOKENS = 10_000, 1_000, 40
#: What an article states for 10,000 tokens of a system it does not describe: 3.2 to 1.4 GB, 38% less latency.
STATED_MEMORY, STATED_TIME = 1.4 / 3.2, 1 - 0.38
SINGLE, IN_HALF = 1e-4, 5e-2  #: how far outputs may be from exact ones, in float32 and with rounded tables
ROOM: Final = 1 << 30  #: bytes for the rest of a model
COPIES = 2.6  #: of a bias of all pairs, in the numbers that the first step has at a time
KEPT = (
    "peak of the first pass with all that it keeps, which depth does not change; seconds of later passes through one "
    "layer; each step in a process of its own"
)


@registry.register("long-context")
def long_context(request: Request) -> Iterator[Cell]:
    """Encoder and decoder on 10,000 tokens: memory and seconds, step by step from naive positions to ours."""
    tokens = request.tokens or (TINY_TOKENS if request.tiny else QUICK_TOKENS if request.quick else TOKENS)
    if not can_measure():
        return
    yield from _model("encoder", ENCODER, encoder_steps, tokens, request)
    yield from _model("decoder", DECODER, decoder_steps, tokens, request)


def _model(name: str, sizes: Sizes, steps: Any, tokens: int, request: Request) -> Iterator[Cell]:
    answers = {}
    for step in _asked(steps, request):
        request.tell(f"{name}, {tokens} tokens: {step}")
        answers[step] = _answer(name, step, steps, tokens, 1 if request.quick or request.tiny else 2)
    exact = answers.get(steps.EXACT, {})
    shape = f"{sizes.width} wide, {sizes.heads} heads, {tokens} tokens, 1 of {sizes.depth} layers"
    rows = tuple(_row(step, answer, exact, limit=steps.LIMIT) for step, answer in answers.items())
    yield Cell(f"{name}: {shape}", KEPT, targets=tuple(_targets(steps, tokens)), given=rows, bars=True)
    alone = tuple(_row(step, answer.get("alone", answer), {}, limit=steps.LIMIT) for step, answer in answers.items())
    yield Cell(f"{name}, positions alone: {shape}", "rotations, tables, biases and masks of that layer", given=alone)


def _asked(steps: Any, request: Request) -> list[str]:
    """The steps of this run, the most naive first."""
    few = (steps.NAIVE, steps.EXACT, steps.OURS)
    left_out = set(steps.STEPS).difference(few) if request.tiny else steps.FULL_ONLY if request.quick else ()
    return [step for step in steps.STEPS if step not in left_out]


def _answer(model: str, step: str, steps: Any, tokens: int, rounds: int) -> dict[str, Any]:
    pairs = COPIES * 4 * encoder_steps.HEADS if model == "encoder" else 16
    need = ROOM + (0 if step in (steps.OURS, steps.LIMIT) else pairs * tokens**2)
    if available() < need:
        return {"missing": f"needs up to {need / MIB:.0f} MiB of memory, {available() / MIB:.0f} are free"}
    values = {"model": model, "step": step, "tokens": tokens, "layers": 1, "rounds": rounds}
    try:
        return in_fresh_process({"code": CODE, "values": values, "threads": 1})
    except GnomonError as why:
        return {"missing": str(why)}


def _row(step: str, answer: dict[str, Any], exact: dict[str, Any], *, limit: str) -> Row:
    if "missing" in answer:
        return Row(step, missing=answer["missing"])
    error = None
    if step != limit and "sample" in answer and "sample" in exact:
        error = max(abs(a - b) for a, b in zip(answer["sample"], exact["sample"], strict=True))
    return Row(step, tuple(answer["rounds"]), int(answer["growth"]), error)


def _targets(steps: Any, tokens: int) -> Iterator[Target]:
    ours, naive = steps.OURS, (steps.NAIVE,)
    if tokens >= TOKENS:
        yield Target("L1", "less memory than 1.4 of 3.2 GB", "memory", ours, STATED_MEMORY, naive)
        yield Target("L1", "38% less latency, or better", "time", ours, STATED_TIME, naive)
    yield Target("L1", "outputs equal to 1e-4", "error", ours, SINGLE)
    if steps is decoder_steps and tokens >= TOKENS:
        yield Target("L1", "outputs equal to 0.05 with rounded tables", "error", decoder_steps.HALF, IN_HALF)
