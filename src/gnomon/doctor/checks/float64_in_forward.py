"""PE606: the forward computes in float64, which some devices do not have."""

from collections.abc import Iterator

import torch

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.calling import model
from gnomon.doctor.evidence.deployment.device_audit import device_audit
from gnomon.report.document import Finding, Measured


@check("PE606", "float64-in-forward", severity="note", needs=(model, device_audit))
def float64_in_forward(subject: Subject) -> Iterator[Finding | Measured]:
    """A model of lower precision makes float64 tensors in its forward: Apple GPUs, NPUs and TPUs refuse them.

    Why: angles are sometimes computed in float64 to be safe, or because numpy did. Devices without float64 stop at the
    first such tensor. Frequencies and positions in float32 give angles within 1e-3 rad up to position 10,000.

    Fix: compute angles in float32 on devices without float64, or make the table once on the CPU and cast it before it
    moves. A scalar needs no dtype of its own.

    Sources: diffusers pull request 12653 and issue 9047.
    """
    probe = model(subject)
    if probe.dtype is torch.float64:
        raise MissingEvidence("the model itself is examined in float64")
    wide = [step for steps in device_audit(subject).of_kind("wide").values() for step in steps]
    places = {step.where: step for step in reversed(wide)}
    yield Measured("float64 tensors on the device", len(wide), 0, "Apple GPUs and most accelerators have none")
    for where, step in places.items():
        yield Finding(
            where or "the forward",
            f"{step.operation} makes a float64 tensor {step.shape} on the device: {step.origin}",
            "compute angles in float32 where the device has no float64: within 1e-3 rad up to position 10,000",
            {"operation": step.operation, "shape": list(step.shape), "origin": step.origin},
        )
