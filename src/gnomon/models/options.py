"""The sizes of a model, as plain data."""

from dataclasses import dataclass, field
from typing import Literal, final

from gnomon.errors import GnomonError, ShapeError

Scale = Literal["none", "sqrt_dim", "dim"]
SCALES: tuple[Scale, ...] = ("none", "sqrt_dim", "dim")


@final
@dataclass(frozen=True)
class EmbeddingOptions:
    """How token embeddings are made.

    `scale` multiplies them by 1, sqrt(dim) or dim before positions are added; Vaswani et al. 2017, section 3.4, use
    sqrt(dim). (`Sinusoidal(scale=...)` divides the position side instead: the same ratio from the other side.)
    `width` is the width of the table when it is narrower than the model: ALBERT, Lan et al. 2020, arXiv:1909.11942.
    """

    scale: Scale = "none"
    width: int | None = None

    def __post_init__(self) -> None:
        if self.scale not in SCALES:
            raise GnomonError(f"An embedding scale is one of {', '.join(SCALES)}, got {self.scale!r}.")
        if self.width is not None and self.width < 1:
            raise ShapeError(f"An embedding table needs a width of at least 1, got {self.width}.")


@final
@dataclass(frozen=True)
class ModelOptions:
    """The sizes of a decoder or an encoder. The feed-forward layers are four times as wide as the model.

    >>> ModelOptions(vocabulary=100, dim=32, num_layers=2, num_heads=4).num_key_heads is None
    True
    """

    vocabulary: int
    dim: int
    num_layers: int
    num_heads: int
    num_key_heads: int | None = None  #: None: as many as num_heads
    embedding: EmbeddingOptions = field(default_factory=EmbeddingOptions)

    def __post_init__(self) -> None:
        for name in ("vocabulary", "dim", "num_layers", "num_heads"):
            if getattr(self, name) < 1:
                raise ShapeError(f"A model needs {name} of at least 1, got {getattr(self, name)}.")
