"""The sizes and rules of an XLNet, as plain data."""

from dataclasses import dataclass
from typing import Literal, final, get_args

from gnomon.errors import GnomonError, ShapeError

Activation = Literal["gelu", "gelu_new", "relu", "silu"]


@final
@dataclass(frozen=True)
class XLNetOptions:
    """What an XLNet is built from; in brackets the names of the released configurations.

    >>> XLNetOptions(vocabulary=100, dim=32, num_layers=2, num_heads=4, feed_forward_dim=64).causal
    False
    """

    vocabulary: int
    dim: int
    num_layers: int
    num_heads: int
    feed_forward_dim: int
    causal: bool = False  #: tokens see those up to themselves only [attn_type "uni"; "bi" is False]
    clamp_length: int | None = None  #: distances above it count as it [clamp_len, -1 for None]
    mirrored: bool = False  #: the second half of the rows of a batch is read backwards [bi_data]
    same_length: bool = False  #: each token sees as many slots before it as there is memory
    memory_length: int | None = None  #: how many slots of memory are kept; None: all [mem_len]
    reuse_length: int | None = (
        None  #: how many tokens of a segment go into memory, from its start; None: all [reuse_len]
    )
    activation: Activation = "gelu"
    norm_epsilon: float = 1e-12

    def __post_init__(self) -> None:
        for name in ("vocabulary", "dim", "num_layers", "num_heads", "feed_forward_dim"):
            if getattr(self, name) < 1:
                raise ShapeError(f"A model needs {name} of at least 1, got {getattr(self, name)}.")
        for name in ("clamp_length", "memory_length", "reuse_length"):
            given = getattr(self, name)
            if given is not None and given < 1:
                raise GnomonError(f"{name} is at least 1, or None for no limit, got {given}.")
        if self.activation not in get_args(Activation):
            raise GnomonError(f"The activation is one of {', '.join(get_args(Activation))}, got {self.activation!r}.")
