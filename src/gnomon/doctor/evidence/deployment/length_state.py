"""Which buffers a model has after one forward of this length or of that: what two ranks of a training would hold."""

from dataclasses import dataclass

from gnomon.adapters.subject import Subject
from gnomon.doctor.evidence.base import evidence
from gnomon.doctor.evidence.calling import model
from gnomon.doctor.evidence.deployment.copies import replica, untouched

SHORT, LONG = 5, 7


@dataclass(frozen=True)
class LengthState:
    """Shapes of the buffers, by name, after a forward of each length on a copy of its own; None: there is no such."""

    lengths: tuple[int, int]
    shapes: dict[str, tuple[tuple[int, ...] | None, tuple[int, ...] | None]]


@evidence
def length_state(subject: Subject) -> LengthState:
    """Runs two copies once, each at its own length."""
    probe = model(subject)
    lengths = (probe.length(SHORT), probe.length(LONG))
    found = []
    for length in lengths:
        copy = replica(probe, untouched(subject))
        copy(probe.draw(2, length, seed=74))
        found.append({name: tuple(buffer.shape) for name, buffer in copy.module.named_buffers()})
    names = dict.fromkeys((*found[0], *found[1]))
    return LengthState(lengths, {name: (found[0].get(name), found[1].get(name)) for name in names})
