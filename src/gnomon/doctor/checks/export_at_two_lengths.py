"""PE614: a model whose ONNX export is not the model, at the length of the example or at another."""

from collections.abc import Iterator

from gnomon.adapters.subject import Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.calling import model
from gnomon.doctor.evidence.deployment.exported import Exported, exported
from gnomon.report.document import Finding, Measured


@check("PE614", "export-at-two-lengths", severity="error", needs=(model, exported), heavy=True)
def export_at_two_lengths(subject: Subject) -> Iterator[Finding | Measured]:
    """Exported to ONNX with batch and length left open, the graph differs from the model or runs at one length only.

    Why: whatever Python computes from the example's length becomes a constant: positions, masks, a choice between two
    branches. The graph agrees with the model on the example, which is what is usually tried.

    Fix: make positions from the input inside the forward (`torch.arange(x.shape[1], device=x.device)`), without
    `int()`, `len()` or caches that are filled before; complex numbers cannot be exported at all.

    Sources: pytorch 20075 and 117209, onnx 6480, optimum 2326.
    """
    found = exported(subject)
    if found.failure:
        yield Measured("exported", "no", "yes", "by torch.onnx with onnxscript")
        yield Finding(
            "the forward",
            f"the model cannot be exported to ONNX: {found.failure}",
            "write the operation that is named in tensor operations that exporters know (rotations in real arithmetic)",
            {"failure": found.failure},
            severity="warning",
        )
        return
    limit = 10 * model(subject).tolerance
    for (batch, length), apart in found.runs.items():
        name = f"difference of the graph at {batch} x {length}, exported at {found.at}"
        yield Measured(name, "fails" if apart is None else apart, limit, "another library adds in another order")
    yield from _judged(found, limit)


def _judged(found: Exported, limit: float) -> Iterator[Finding]:
    for (batch, length), apart in found.runs.items():
        if apart is None or apart > limit:
            what = "fails" if apart is None else f"differs by {apart:.2g} of the outputs' size"
            yield Finding(
                "the exported graph",
                f"exported at length {found.at}, the graph {what} at {batch} x {length}",
                "make positions and masks from the shape of the input inside the forward: no length is built in",
                {"length": length, "batch": batch, "difference": apart},
            )
            return
