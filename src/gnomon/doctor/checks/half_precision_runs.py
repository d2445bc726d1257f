"""PE328: in bfloat16 the model fails, or hands back float32."""

from collections.abc import Iterator

import torch
from torch import Tensor

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.base import attempt
from gnomon.doctor.evidence.calling import model
from gnomon.doctor.evidence.component import Component, component, first_of
from gnomon.doctor.evidence.component_values import cast
from gnomon.report.document import Finding, Measured

DTYPE = torch.bfloat16
FAILS = "fails: "
LENGTH = 9


@check("PE328", "half-precision-runs", severity="warning", needs=("module",))
def half_precision_runs(subject: Subject) -> Iterator[Finding | Measured]:
    """After `.to(torch.bfloat16)` the forward fails, or vectors in bfloat16 come back as float32.

    Why: a float32 or complex64 table promotes whatever it is added to or multiplied with. The next linear layer then
    refuses its input, or everything behind it runs in float32 and twice the memory, and nobody is told. Positions and
    angles belong in float32; what is handed on belongs in the dtype that came in. Models of token ids are judged only
    by whether they run: many hand back logits in float32 on purpose.

    Fix: compute sine and cosine in float32, then cast: `x * cos.to(x.dtype)`; for complex tables
    `torch.view_as_real(z).flatten(-2).to(x.dtype)`.

    Sources: patrick-kidger/equinox#836 (a complex64 table promotes bfloat16).
    """
    found = attempt(component, subject)
    given, came = _alone(found) if found is not None else _whole(subject)
    where = "the module" if found is not None else "the forward"
    yield Measured("dtype of the output", came, given, "what came in; of token ids any float dtype is right")
    if came.startswith(FAILS):
        yield Finding(
            where,
            f"after .to({DTYPE}) the forward fails, which runs in float32: {came.removeprefix(FAILS)}",
            "cast what a float32 table is combined with back before the next layer: x + table[ids].to(x.dtype)",
            {"in": str(DTYPE)},
            severity="note",  # not every model is meant to run so
        )
    elif given is not None and came != given:
        yield Finding(
            where,
            f"{given} goes in and {came} comes out: a table promotes it",
            "compute sine and cosine in float32, and cast the result: (x * cos + turned * sin).to(x.dtype)",
            {"in": given, "out": came},
        )


def _alone(found: Component) -> tuple[str, str]:
    """The dtypes that go into and come out of a bare position module."""
    if not isinstance(found.give(LENGTH, 1)[0], Tensor) or not found.give(LENGTH, 1)[0].is_floating_point():
        raise MissingEvidence("the module takes positions or lengths, and no vectors whose dtype it could keep")
    if found.kind == "bias":
        raise MissingEvidence("the module gives a bias, which belongs in float32")
    out = cast(found, DTYPE)(LENGTH, 1)
    return str(DTYPE), str(first_of(out).dtype)


def _whole(subject: Subject) -> tuple[str | None, str]:
    """The same for a model; raises MissingEvidence where the model does not run in float32 either."""
    probe = model(subject)
    content = probe.draw(2, 0 if probe.takes_images else probe.length(LENGTH))
    half = probe.cast(DTYPE)
    try:
        out = half(content.to(DTYPE) if content.is_floating_point() else content)
    except MissingEvidence as failure:
        if "not implemented for" in str(failure):
            raise MissingEvidence("an operation of this model has no bfloat16 kernel here") from None
        return None, f"{FAILS}{failure}"
    return (str(DTYPE) if content.is_floating_point() else None), str(out.dtype)
