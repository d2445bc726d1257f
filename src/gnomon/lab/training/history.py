"""What training leaves behind beside the weights: numbers for each step."""

from dataclasses import dataclass, field
from typing import final


@final
@dataclass
class History:
    """One entry a step, over the whole batch of all processes. Losses in nats for each scored slot."""

    losses: list[float] = field(default_factory=list)
    gradient_norms: list[float] = field(default_factory=list)  #: before clipping
    seconds: float = 0.0  #: in training steps alone, over all sittings
