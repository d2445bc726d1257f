"""What a config says about positions: one Claim for each encoding and kind of layer, before anything is measured."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True)
class Claim:
    """One encoding as the config states it.

    `kind` is the registered name of an encoding ("rotary", "learned", "t5", "nope"), or the name that the config gives
    one which gnomon does not build; a note among the `keys` then says so. `options` are arguments of that encoding, and
    what a reader wants to see beside them (heads, rows, the stated length); an option that cannot be told is left out.
    `keys` says which key of the config gave each option ("default" when none did).
    """

    kind: str
    where: str  #: "embeddings", "layers.*.attention", those of a stack ("decoder.embeddings"), or "sliding_attention"
    options: Mapping[str, Any]
    keys: Mapping[str, str] = field(default_factory=dict)
    table_names: tuple[str, ...] = ()  #: tensor names that hold its table, as regular expressions


@dataclass(frozen=True)
class Family:
    """What the field knows of a model type beyond its config file."""

    model_types: tuple[str, ...]
    architecture: Literal["encoder", "decoder", "encoder-decoder"]
    layout: Literal["half", "interleaved"] | None = None
