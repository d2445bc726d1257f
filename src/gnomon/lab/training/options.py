"""How a model is trained, as plain JSON values."""

from dataclasses import dataclass
from typing import Literal, final, get_args

from gnomon.errors import GnomonError

Precision = Literal["no", "bf16", "fp16"]


@final
@dataclass(frozen=True)
class TrainingOptions:
    """AdamW with warm-up and a cosine to `final_rate` of the peak; the defaults are those of the lab's small models."""

    steps: int = 1000
    batch_size: int = 32
    learning_rate: float = 3e-3
    warmup: int = 50
    final_rate: float = 0.05
    weight_decay: float = 0.01
    betas: tuple[float, float] = (0.9, 0.98)
    clip: float = 1.0  #: gradients are scaled down to this norm
    precision: Precision = "no"  #: autocast by accelerate; positions and angles stay as they are
    save_every: int = 200  #: steps between checkpoints

    def __post_init__(self) -> None:
        object.__setattr__(self, "betas", tuple(self.betas))
        for name in ("steps", "batch_size", "save_every"):
            if getattr(self, name) < 1:
                raise GnomonError(f"Training needs {name} of at least 1, got {getattr(self, name)}.")
        if not self.learning_rate > 0 or not self.clip > 0:
            raise GnomonError("Training needs a learning_rate and a clip above 0.")
        if self.precision not in get_args(Precision):
            raise GnomonError(f"The precision is one of {', '.join(get_args(Precision))}, got {self.precision!r}.")


@final
@dataclass(frozen=True)
class Placing:
    """Which positions the tokens of a row get.

    "counted": 0, 1, 2, ... "offset": counted from a random start in training, so that all positions below `limit` are
    trained; from 0 in tests (Huang et al. 2025). "random": a sorted random choice from 0 .. limit - 1, in training and
    in tests (Ruoss et al. 2023).
    """

    kind: Literal["counted", "offset", "random"] = "counted"
    limit: int = 0

    def __post_init__(self) -> None:
        if self.kind not in ("counted", "offset", "random"):
            raise GnomonError(f"Positions are placed counted, offset or random, got {self.kind!r}.")
        if self.kind != "counted" and self.limit < 1:
            raise GnomonError(f"Positions that are {self.kind} need a limit, the number of positions there are.")
