"""PE602: tensors that would be on another device than the model."""

import math
from collections.abc import Iterator

from gnomon.adapters.subject import Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.calling import model
from gnomon.doctor.evidence.deployment.device_audit import DeviceAudit, device_audit
from gnomon.doctor.evidence.deployment.second_device import Meeting
from gnomon.report.document import Finding, Measured

ATTRIBUTE = "plain attribute "
LARGE = 1024  # numbers in one tensor: fewer are not worth a word


@check("PE602", "mixed-devices", severity="warning", needs=(model, device_audit))
def mixed_devices(subject: Subject) -> Iterator[Finding | Measured]:
    """On an accelerator the forward would meet tensors that are still on the CPU.

    Why: `arange` without `device=` makes its positions on the CPU, and a table kept as a plain attribute stays there
    when the module moves. On a CPU everything works; on any other device the first operation that meets both fails, and
    it may do so only for short inputs, when a table that was built on the CPU is rebuilt for long ones. It fails aloud
    there, and never on a CPU, so this is a warning.

    Fix: make positions with `device=x.device`; keep tables as buffers (`persistent=False` when they are derived).

    Sources: transformers 44824, 18087 and 39981, vllm 43844, fairseq 5213, multidim-positional-encoding 33.
    """
    audit = device_audit(subject)
    mixes = {length: _by_origin(met) for length, met in audit.of_kind("mix").items()}
    met = _by_origin([meeting for found in mixes.values() for meeting in found.values()])
    copies = _by_origin([meeting for met in audit.of_kind("copy").values() for meeting in met])
    yield Measured("tensors left on the CPU that meet the model's", len(met), 0, "an operation takes one device")
    for origin, meeting in met.items():
        seen = [length for length in audit.lengths if origin in mixes[length]]
        yield Finding(meeting.where or "the forward", _message(meeting, seen, audit), _fix(origin), _measured(meeting))
    large = [m for origin, m in copies.items() if origin not in met and math.prod(m.shape) >= LARGE]
    yield Measured("tensors copied from the CPU in each forward", len(large), 0, f"of {LARGE} numbers and more")
    yield from map(_copied, large)


def _copied(meeting: Meeting) -> Finding:
    return Finding(
        meeting.where or "the forward",
        f"a tensor {meeting.shape} of the CPU is copied to the device in each forward: {meeting.origin}",
        _fix(meeting.origin),
        _measured(meeting),
        severity="note",
    )


def _by_origin(met: list[Meeting]) -> dict[str, Meeting]:
    found: dict[str, Meeting] = {}
    for meeting in met:
        found.setdefault(meeting.origin, meeting)
    return found


def _message(meeting: Meeting, seen: list[int], audit: DeviceAudit) -> str:
    when = "" if len(seen) == len(audit.lengths) else f" at length {seen[0]} (not at {_others(seen, audit)})"
    return f"{meeting.operation} meets a tensor {meeting.shape} that stays on the CPU{when}: {meeting.origin}"


def _others(seen: list[int], audit: DeviceAudit) -> str:
    return ", ".join(str(length) for length in audit.lengths if length not in seen)


def _fix(origin: str) -> str:
    if origin.startswith(ATTRIBUTE):
        name = origin.removeprefix(ATTRIBUTE).rpartition(".")[2]
        return f'self.register_buffer("{name}", ..., persistent=False) instead of self.{name} = ..., so that it moves'
    return f"pass device= in {origin}: the device of the hidden states or of the ids"


def _measured(meeting: Meeting) -> dict[str, object]:
    return {"origin": meeting.origin, "operation": meeting.operation, "shape": list(meeting.shape)}
