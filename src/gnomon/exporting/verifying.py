"""Runs a written graph in onnxruntime beside the model that it was made of."""

from pathlib import Path
from typing import Final

import torch
from torch import Tensor

from gnomon.adapters.onnx.graph import read_graph
from gnomon.adapters.onnx.module import OnnxModule
from gnomon.adapters.subject import MissingEvidence
from gnomon.adapters.wording import said
from gnomon.errors import GnomonError
from gnomon.exporting.graphs.base import Graph
from gnomon.exporting.options import ExportOptions
from gnomon.exporting.result import Case, Check

FIRST, PADDING = 5, 3
#: How far a graph may be from the model, as a share of the largest output: 1e-5 in float32, where both add numbers in
#: another order; in half precision two or three of its last digits.
TOLERANCES: Final = {torch.float32: 1e-5, torch.float16: 5e-3, torch.bfloat16: 4e-2}
NO_BFLOAT16: Final = (
    "onnxruntime has no bfloat16 MatMul on the CPU: use --no-check (check=False), or --dtype float16 (dtype='float16')."
)
OTHERS: Final = "--lengths (lengths=) chooses others"


def verify(eager: Graph, path: Path, options: ExportOptions) -> tuple[Check, ...]:
    """One check for each case; raises GnomonError when onnxruntime cannot load the graph at all."""
    try:
        graph = OnnxModule(read_graph(path))
    except MissingEvidence as missing:
        if any(parameter.dtype == torch.bfloat16 for parameter in eager.parameters()):
            raise GnomonError(NO_BFLOAT16) from None
        raise GnomonError(f"The graph cannot be checked: {missing}; without the check it can be written.") from None
    return tuple(_checked(eager, graph, case, seed) for seed, case in enumerate(cases(eager, options), start=1))


def cases(graph: Graph, options: ExportOptions) -> tuple[Case, ...]:
    """Both lengths, batches of 1 and 3, positions that start later, and padding, as far as the graph has inputs for it.

    Raises GnomonError when the lengths are more than the model has positions for.
    """
    short, long = sorted(options.lengths)
    limit = long + FIRST if graph.limit is None else graph.limit
    if limit < 2:
        raise GnomonError(
            "The comparison needs two lengths, and the model has 1 position: use --no-check (check=False)."
        )
    if long > limit:
        raise GnomonError(f"The model has {limit} positions, too few to check {long} tokens; {OTHERS}.")
    if options.cache:
        return _with_cache(short, max(1, min(long, limit - short - FIRST)))
    first = min(FIRST, limit - long) if graph.has_positions else 0
    padding = min(PADDING, short - 1) if graph.has_mask else 0
    found = (
        Case(1, short),
        Case(3, long),
        Case(3, short, first=first),
        Case(1, long, padding=padding),
        Case(3, long, first=first, padding=padding),
    )
    return tuple(dict.fromkeys(found))


def _with_cache(short: int, past: int) -> tuple[Case, ...]:
    return (
        Case(1, short),
        Case(3, 1, past=past),
        Case(3, short, past=past, padding=min(PADDING, past)),
        Case(1, 1, first=FIRST, past=past),
    )


def _checked(eager: Graph, graph: OnnxModule, case: Case, seed: int) -> Check:
    try:
        drawn = eager.draw(case, seed)
        with torch.no_grad():
            expected = eager(*drawn.values())
    except Exception as error:
        raise GnomonError(f"The model itself does not run at {case}: {said(error)}; {OTHERS}.") from error
    tolerance = TOLERANCES.get(expected[0].dtype, TOLERANCES[torch.float32])
    try:
        results = graph(**drawn)
    except Exception as error:  # noqa: BLE001  onnxruntime's errors have no common base
        return Check(case, float("inf"), tolerance, said(error))
    real = drawn.get("attention_mask")
    apart = [_apart(want, results[name], real) for name, want in zip(eager.outputs, expected, strict=True)]
    return Check(case, max(apart), tolerance)


def _apart(expected: Tensor, found: Tensor, mask: Tensor | None) -> float:
    """The largest difference at real tokens, as a share of the largest number expected (at least 1)."""
    if expected.shape != found.shape:
        return float("inf")
    want, got = expected.float(), found.float()
    real = None if mask is None or want.ndim != 3 else mask[:, -want.shape[1] :] != 0
    if real is not None and real.shape == want.shape[:2]:
        want, got = want[real], got[real]
    apart = float((want - got).abs().max() / want.abs().max().clamp_min(1.0)) if want.numel() else 0.0
    return apart if apart == apart else float("inf")
