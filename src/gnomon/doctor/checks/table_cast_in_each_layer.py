"""PE616: a table is cast again by each layer."""

from collections.abc import Iterator

import torch

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.calling import model
from gnomon.doctor.evidence.deployment.copies import replica, untouched
from gnomon.doctor.evidence.deployment.operations import BATCH, LENGTH, Operation, operations, operations_of
from gnomon.report.document import Finding, Measured


@check("PE616", "table-cast-in-each-layer", severity="note", needs=(model, operations))
def table_cast_in_each_layer(subject: Subject) -> Iterator[Finding | Measured]:
    """In half precision every layer casts the same tensor anew.

    Why: a table of cosines is kept in float32, as it should be, and matched to the dtype of queries in each attention:
    one cast for each layer and step, where one for all layers is enough. In decoding those small operations cost more
    than the rotation.

    Fix: cast the rows of this call once, before the first layer, and hand them to all layers.

    Sources: vllm 42833 and 22453.
    """
    operations(subject)
    probe = model(subject)
    if probe.takes_images or probe.is_half:
        raise MissingEvidence("needs a model of sequences that is examined in float32, to cast it to bfloat16")
    content = probe.draw(BATCH, probe.length(LENGTH), seed=73)
    content = content.to(torch.bfloat16) if content.is_floating_point() else content
    steps = operations_of(replica(probe, untouched(subject)).cast(torch.bfloat16), content)
    repeated = [places for places in _casts(steps).values() if len(places) > 1]
    yield Measured("tensors that several modules cast", len(repeated), 0, "one cast serves every layer")
    if repeated:
        most = max(repeated, key=len)
        first = next(iter(most.values()))
        yield Finding(
            first.where or "the forward",
            f"{len(most)} modules cast the same tensor {first.shape} from {_short(first.source_dtype)} to"
            f" {_short(first.dtype)}",
            f"cast it once before the first layer: 1 cast instead of {len(most)}",
            {"casts": len(most), "shape": list(first.shape)},
        )


def _casts(steps: tuple[Operation, ...]) -> dict[int, dict[str, Operation]]:
    """For each tensor that was cast to a narrower floating dtype, the modules that did it.

    A parameter that several layers share is brought up to float32 by each for precision: that is no table of theirs.
    """
    found: dict[int, dict[str, Operation]] = {}
    for step in steps:
        before = step.source_dtype
        floats = before is not None and before.is_floating_point and step.dtype.is_floating_point
        if step.name == "_to_copy" and floats and step.shape and step.dtype.itemsize < (before or step.dtype).itemsize:
            found.setdefault(step.source, {}).setdefault(step.where, step)
    return found


def _short(dtype: torch.dtype | None) -> str:
    return str(dtype).removeprefix("torch.")
