"""What one forward did about positions, as data."""

from dataclasses import dataclass, field

from torch import Tensor

from gnomon.doctor.evidence.rotations import Rotation


@dataclass(frozen=True)
class Lookup:
    """Rows taken from a stored table."""

    where: str
    table: str
    rows: Tensor


@dataclass(frozen=True)
class Trig:
    """Angles that went into a sine or cosine, in the dtype they had."""

    where: str
    operation: str
    angles: Tensor


@dataclass
class Trace:
    """Everything about positions that one forward did, in order."""

    batch: int
    length: int
    rotations: list[Rotation] = field(default_factory=list)
    lookups: list[Lookup] = field(default_factory=list)
    trigs: list[Trig] = field(default_factory=list)
    attentions: int = 0
