"""PE607: complex numbers in the forward, which exporters refuse."""

from collections.abc import Iterator

from gnomon.adapters.subject import Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.calling import model
from gnomon.doctor.evidence.deployment.operations import Operation, operations
from gnomon.report.document import Finding, Measured


@check("PE607", "complex-operations", severity="note", needs=(model, operations))
def complex_operations(subject: Subject) -> Iterator[Finding | Measured]:
    """The forward uses complex numbers: it runs, but cannot be exported to ONNX and is slow on many devices.

    Why: a rotation by an angle is one complex product, so Llama's own code and vision models write it with `polar` and
    `view_as_complex`. ONNX has no complex tensors; exporters stop at these operations, and compilers fall back.

    Fix: the same rotation in real arithmetic: split each pair into a and b, and give (a cos - b sin, a sin + b cos).
    Numbers agree to 1e-6.

    Sources: onnx issues 6480 and 3173, sam2 issue 186. Measured on torch 2.13: the exporter stops at `aten::polar`.
    """
    steps = [step for step in operations(subject) if _is_complex(step)]
    yield Measured("complex operations in the forward", len(steps), 0, "ONNX has no complex tensors")
    places: dict[str, list[str]] = {}
    for step in steps:
        places.setdefault(step.where, []).append(step.name)
    for where, names in places.items():
        used = ", ".join(dict.fromkeys(names))
        yield Finding(
            where or "the forward",
            f"complex operations ({used}) cannot be exported to ONNX",
            "rotate each pair in real arithmetic: (a cos - b sin, a sin + b cos)",
            {"operations": used},
        )


def _is_complex(step: Operation) -> bool:
    return step.dtype.is_complex or (step.source_dtype is not None and step.source_dtype.is_complex)
