"""One forward on a device that is not the host's: which tensors would be on the wrong one."""

from dataclasses import dataclass

from torch import Tensor

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.evidence.base import evidence
from gnomon.doctor.evidence.calling import Model, model
from gnomon.doctor.evidence.deployment.copies import replica, untouched
from gnomon.doctor.evidence.deployment.second_device import Meeting, Place, SecondDevice, move
from gnomon.doctor.evidence.paths import running_path

SHORT, LONG = 4, 48


@dataclass(frozen=True)
class DeviceAudit:
    """What met in forwards at a short and at a long length, with and without a mask; by length."""

    lengths: tuple[int, ...]
    meetings: dict[int, tuple[Meeting, ...]]

    def of_kind(self, kind: str) -> dict[int, list[Meeting]]:
        return {length: [m for m in met if m.kind == kind] for length, met in self.meetings.items()}


@evidence
def device_audit(subject: Subject) -> DeviceAudit:
    """Runs a copy that nothing has run before; see `SecondDevice` for how a device is simulated."""
    probe = model(subject)
    if probe.device.type != "cpu":
        raise MissingEvidence("a second device is simulated on the CPU; examine the model without --device")
    fresh = replica(probe, untouched(subject))
    meetings: dict[int, tuple[Meeting, ...]] = {}
    lengths = (0,) if probe.takes_images else (probe.length(SHORT), probe.length(LONG))
    others = [value for value in subject.example.values() if isinstance(value, Tensor)]
    for length in dict.fromkeys(lengths):
        meetings[length] = _met(fresh, length, others)
    return DeviceAudit(tuple(meetings), meetings)


def _met(probe: Model, length: int, others: list[Tensor]) -> tuple[Meeting, ...]:
    content = probe.draw(2, length, seed=71)
    arguments: list[dict[str, Tensor]] = [{}]
    if probe.signature.mask is not None:
        ones = content.new_ones(content.shape[:2]).long()
        arguments.append({"mask": ones})
    found: list[Meeting] = []
    for given in arguments:
        with running_path(probe.module) as path:
            mode = SecondDevice(path)
            move(probe.module, mode)
            for tensor in (content, *given.values(), *others):
                mode.put(tensor, Place("away"))
            with mode:
                probe(content, **given)
        found += mode.meetings
    return tuple(dict.fromkeys(found))
