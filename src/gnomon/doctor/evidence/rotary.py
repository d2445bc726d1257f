"""The rotations a forward did, one entry for each kind of layer, as frequencies and shifts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from jaxtyping import Float64

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.evidence.base import attempt, evidence
from gnomon.doctor.evidence.expected import place, wrapped
from gnomon.doctor.evidence.rotations import Layout, Rotation
from gnomon.doctor.evidence.trace import trace
from gnomon.doctor.evidence.turned import turned_lanes

SLOW = 1.5  # radians a position


@dataclass(frozen=True)
class RotaryUse:
    """The same rotation in one or more layers.

    `frequencies`: radians a position for each pair, with the sign of the direction, from neighbouring positions.
    `shift`: the position that the first token was given (0 as a rule), from the fastest pair.
    """

    where: str
    layers: int
    first: Rotation
    frequencies: Float64[np.ndarray, " pairs"]
    shift: float
    paths: tuple[str, ...] = ()  #: the module of each rotation, twice where queries and keys turn alike

    @property
    def sense(self) -> Literal[1, -1]:
        """Which way later positions turn: -1 by a minus in the code or by one in the table of sines, not by both."""
        slow = self.frequencies[np.abs(self.frequencies) < SLOW]  # faster pairs may seem to turn the other way
        total = float(slow.sum())
        return self.first.direction if total == 0 else 1 if total > 0 else -1


@evidence
def rotary_uses(subject: Subject) -> tuple[RotaryUse, ...]:
    """The distinct rotations of one forward at positions 0, 1, 2, ..., by operations, else by what they did."""
    uses = group_rotations(trace(subject).rotations) or group_rotations(_by_result(subject))
    if not uses:
        raise MissingEvidence("no rotation of queries and keys was seen in the forward")
    return uses


def _by_result(subject: Subject) -> list[Rotation]:
    """Rotations in a spelling that is not known, read off the queries and keys; places count from the first."""
    found = []
    for lanes in attempt(turned_lanes, subject) or ():
        layout = _layout(lanes.pairs)
        if layout is None or lanes.unexplained or lanes.torn:
            continue
        fastest = int(np.abs(np.angle(lanes.turns[1])).argmax())
        direction: Literal[1, -1] = 1 if lanes.turns[1, fastest].imag >= 0 else -1
        cos, sin = (torch.from_numpy(part.copy())[None] for part in (lanes.turns.real, lanes.turns.imag * direction))
        found.append(Rotation(lanes.where, layout, direction, cos, sin, 2 * len(lanes.pairs), "unseen"))
    return found


def _layout(pairs: Sequence[tuple[int, int]]) -> Layout | None:
    """How lanes are paired; None where they are neither halves nor neighbours."""
    if not pairs:
        return None
    first, width = pairs[0][0], len(pairs)
    if set(pairs) == {(first + i, first + i + width) for i in range(width)}:
        return "half"
    return "interleaved" if set(pairs) == {(first + 2 * i, first + 2 * i + 1) for i in range(width)} else None


def group_rotations(rotations: Sequence[Rotation]) -> tuple[RotaryUse, ...]:
    """Rotations that agree in everything but their layer become one entry."""
    groups: dict[tuple[object, ...], list[Rotation]] = {}
    for rotation in rotations:
        key = (
            place(rotation.where),
            rotation.layout,
            rotation.direction,
            rotation.rotary_dim,
            rotation.table_layout,
            rotation.axis,
            tuple(rotation.angles()[0, :2].float().round(decimals=6).flatten().tolist()),
        )
        groups.setdefault(key, []).append(rotation)
    return tuple(_use(members) for members in groups.values())


def _use(members: list[Rotation]) -> RotaryUse:
    first = members[0]
    angles = first.angles()[0].numpy()
    steps = wrapped(np.diff(angles, axis=0))
    frequencies = np.median(steps, axis=0)
    fastest = int(np.abs(frequencies).argmax())
    shift = float(angles[0, fastest] / frequencies[fastest]) if frequencies[fastest] else 0.0
    return RotaryUse(
        place(first.where),
        len({m.where for m in members}),
        first,
        frequencies,
        round(shift, 4),
        tuple(m.where for m in members),
    )


def phase_error(rotation: Rotation, uses: Sequence[RotaryUse], positions: torch.Tensor) -> float | None:
    """Largest angle in radians between a rotation at `positions` (S,) and what the nearest of `uses` would do there.

    None when no use has its pairs, or when it does not vary along the sequence. A model may rotate its kinds of layers
    by different frequencies, so the nearest counts.
    """
    if rotation.axis != "sequence":
        return None
    found = rotation.angles()[0].numpy()
    places = positions.double().numpy()[:, None]
    errors = [
        float(np.abs(wrapped(found - (places + use.shift) * use.frequencies)).max())
        for use in uses
        if use.first.layout == rotation.layout and len(use.frequencies) == found.shape[-1]
    ]
    return min(errors, default=None)


def distinct_rows(values: torch.Tensor) -> int:
    """How many different rows a (S, columns) tensor has."""
    return int(torch.unique(values, dim=0).shape[0])
