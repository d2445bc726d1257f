"""What somebody who asks for advice says of the model, its data and where it will run."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gnomon.advisor.lengths import Lengths
from gnomon.advisor.measured import MeasuredFact
from gnomon.advisor.sizes import ModelSizes
from gnomon.advisor.task import Device, Limit, Need, Task


@dataclass(frozen=True)
class Checkpoint:
    """A model that exists: its encoding by gnomon's name, the options that it has, and what its config states.

    `axes` is 2 for a model of images. `both`: an encoder with a decoder, of which this is the encoder's encoding.
    """

    target: str
    encoding: str
    options: Mapping[str, Any] = field(default_factory=dict)
    trained: int | None = None
    causal: bool | None = None
    sizes: ModelSizes = field(default_factory=ModelSizes)
    axes: int = 1
    both: bool = False


@dataclass(frozen=True)
class Setting:
    """Where the model comes from and where it goes. `checkpoint` None is a model from scratch.

    `fine_tune`: whether a checkpoint may be trained further. `examples`: how many there are to train on.
    """

    checkpoint: Checkpoint | None = None
    fine_tune: bool | None = None
    device: Device | None = None
    examples: int | None = None
    tokens: int | None = None
    limits: frozenset[Limit] = frozenset()


@dataclass(frozen=True)
class Description:
    """Everything that advice is based on; what is None is assumed, and the advice says so."""

    task: Task | None = None
    causal: bool | None = None
    need: Need | None = None
    lengths: Lengths = field(default_factory=Lengths)
    sizes: ModelSizes = field(default_factory=ModelSizes)
    setting: Setting = field(default_factory=Setting)
    measured: tuple[MeasuredFact, ...] = ()
