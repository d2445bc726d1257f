"""Clauses about numbers: the formula, dtypes, and what lower precision may do."""

import copy
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from gnomon.testing.trial import VECTOR_HOOKS, ClauseError, Inputs, Reference, Rows, Trial, require_close, require_same

#: One rounding to bfloat16, which has 8 bits of precision.
BFLOAT16_ROUNDING = 2.0**-8
#: What float64 may differ from the formula by at positions up to a thousand, relative to the largest value.
DOUBLE_ROUNDING = 1e-12


def reference(trial: Trial) -> None:
    """Every hook equals the scalar formula, at consecutive positions and at scattered ones."""
    if trial.reference is not None:
        for inputs in (trial.inputs(), trial.scattered()):
            _require_reference(trial, trial.reference, inputs)


def double_precision(trial: Trial) -> None:
    """In float64 vectors and content biases equal the formula to 1e-12: nothing on the way is rounded to float32.

    A bias has no content whose dtype it could follow; it is float32.
    """
    if trial.reference is None:
        return
    encoding = copy.deepcopy(trial.encoding).double().at_length(1)
    for inputs in (trial.inputs(), trial.scattered()):
        inputs = inputs.to(torch.float64)
        results = trial.run(inputs, encoding)
        for name, given in zip(VECTOR_HOOKS, (inputs.x, inputs.q, inputs.k), strict=True):
            want = _expected_vectors(trial.reference, name, given, inputs.positions)
            require_close(results[name], want, f"{name} in float64", DOUBLE_ROUNDING)
        if trial.reference.content_bias is not None and "content_bias" in results:
            seen = trial.visible(inputs)
            want = _expected_content_bias(trial.reference.content_bias, inputs).masked_fill(~seen, 0.0)
            got = results["content_bias"].masked_fill(~seen, 0.0)
            require_close(got, want, "content_bias in float64", DOUBLE_ROUNDING)


def far_out(trial: Trial) -> None:
    """An encoding without a limit is finite, and equals the formula, a million positions out."""
    if trial.limits[0] is not None:
        return
    for inputs in (trial.inputs().shifted(1_000_000), trial.scattered().shifted(1_000_000)):
        for name, value in trial.run(inputs).items():
            if not value.isfinite().all():
                raise ClauseError(f"{name} holds NaN or Inf at position 1000000.")
        if trial.reference is not None:
            _require_reference(trial, trial.reference, inputs)


def shapes_and_dtypes(trial: Trial) -> None:
    """Vectors come back in their own shape and dtype; what is added to logits is float32 and (B, H, Q, K)."""
    for dtype in (torch.float32, torch.bfloat16, torch.float16, torch.float64):
        inputs = trial.inputs().to(dtype)
        results = trial.run(inputs)
        for name, given in zip(VECTOR_HOOKS, (inputs.x, inputs.q, inputs.k), strict=True):
            if results[name].shape != given.shape or results[name].dtype != given.dtype:
                raise ClauseError(
                    f"{name} turned {given.dtype} {tuple(given.shape)} into {results[name].dtype} "
                    f"{tuple(results[name].shape)}."
                )
        if "bias" in results and results["bias"].dtype != torch.float32:
            raise ClauseError(f"bias is {results['bias'].dtype}, expected torch.float32.")


def one_rounding_in_bfloat16(trial: Trial) -> None:
    """In bfloat16 a vector is off by no more than one rounding of the result computed in float32."""
    low = trial.inputs().to(torch.bfloat16)
    got, want = trial.run(low), trial.run(low.to(torch.float32))
    for name in VECTOR_HOOKS:
        error = (got[name].float() - want[name]).abs()
        excess = (error - BFLOAT16_ROUNDING * want[name].abs()).max().item()
        if not excess <= 1e-6:
            raise ClauseError(f"{name} exceeds one bfloat16 rounding by {excess:.3g}.")


def autocast(trial: Trial) -> None:
    """Under autocast the numbers stay what they are: angles and biases are computed in float32 or better."""
    inputs = trial.inputs()
    want = trial.run(inputs)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        got = trial.run(inputs)
    want.pop("content_bias", None)  # a product of activations, which autocast may round
    got.pop("content_bias", None)
    require_same(got, want, "under autocast")


def half_precision_module(trial: Trial) -> None:
    """Moving the module to bfloat16 rounds its parameters and nothing else: arithmetic stays in float32 or better."""
    rounded = copy.deepcopy(trial.encoding)
    with torch.no_grad():
        for parameter in rounded.parameters():
            parameter.copy_(parameter.to(torch.bfloat16))
    moved = copy.deepcopy(trial.encoding).to(torch.bfloat16)
    for inputs in (trial.inputs(), trial.scattered()):
        got, want = trial.run(inputs, moved), trial.run(inputs, rounded)
        # A content bias is a product of activations, which may be in the dtype of the module.
        got_product, want_product = (
            {name: part.pop(name) for name in ("content_bias",) if name in part} for part in (got, want)
        )
        require_same(got, want, "after .to(bfloat16)")
        require_same(got_product, want_product, "after .to(bfloat16)", BFLOAT16_ROUNDING)


def _require_reference(trial: Trial, formula: Reference, inputs: Inputs) -> None:
    """One that depends on the length is compared at the shortest; the clause `lengths` ties the others to it."""
    results = trial.run(inputs, trial.encoding.at_length(1))
    for name, given in zip(VECTOR_HOOKS, (inputs.x, inputs.q, inputs.k), strict=True):
        require_close(results[name].double(), _expected_vectors(formula, name, given, inputs.positions), name)
    if (formula.bias is None) != ("bias" not in results):
        raise ClauseError(f"bias is {'given' if 'bias' in results else 'None'}, the reference says otherwise.")
    if formula.bias is not None:
        got = results["bias"].double()
        want = _expected_bias(formula.bias, trial.num_heads, inputs.positions)
        if trial.encoding.causal_only:
            got, want = _up_to_row_constants(got), _up_to_row_constants(want)
        # The bias itself may be large where its differences are not: rounding is relative to the bias.
        scale = max(1.0, results["bias"].abs().max().item()) / max(1.0, want.abs().max().item())
        require_close(got, want, "bias", 1e-6 * scale)
    if (formula.content_bias is None) != ("content_bias" not in results):
        raise ClauseError(
            f"content_bias is {'given' if 'content_bias' in results else 'None'}, the reference says otherwise."
        )
    if formula.content_bias is not None:
        seen = trial.visible(inputs)
        got = results["content_bias"].double().masked_fill(~seen, 0.0)
        want = _expected_content_bias(formula.content_bias, inputs).masked_fill(~seen, 0.0)
        require_close(got, want, "content_bias", 4e-6)


def _expected_vectors(formula: Reference, name: str, given: Tensor, positions: Tensor) -> Tensor:
    function = getattr(formula, name)
    expected = given.double().clone()
    if function is not None:
        for row in range(given.shape[0]):
            for token, position in enumerate(positions[row].tolist()):
                vectors = given[row, ..., token, :].double()
                rows = [function(vector, position) for vector in vectors.reshape(-1, given.shape[-1]).tolist()]
                expected[row, ..., token, :] = torch.tensor(rows, dtype=torch.float64).reshape(vectors.shape)
    return expected


def _expected_bias(function: Callable[[int, Any, Any], float], num_heads: int, positions: Tensor) -> Tensor:
    table = [
        [[[function(head, i, j) for j in row] for i in row] for head in range(num_heads)] for row in positions.tolist()
    ]
    return torch.tensor(table, dtype=torch.float64)


def _expected_content_bias(function: Callable[[int, Rows, Rows, list[Any], list[Any]], Rows], inputs: Inputs) -> Tensor:
    table = [
        [function(head, q[head].tolist(), k[head].tolist(), positions, positions) for head in range(inputs.q.shape[1])]
        for q, k, positions in zip(inputs.q.double(), inputs.k.double(), inputs.positions.tolist(), strict=True)
    ]
    return torch.tensor(table, dtype=torch.float64)


def _up_to_row_constants(bias: Tensor) -> Tensor:
    """The bias of keys up to the query, less that of the query's own position: what a causal softmax can see."""
    return (bias - bias.diagonal(dim1=-2, dim2=-1).unsqueeze(-1)).tril()
