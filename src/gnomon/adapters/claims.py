"""What a config says about positions: one Claim for each encoding and kind of layer, before anything is measured."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True)
class Claim:
    """One encoding as the config states it.

    `kind` is a registered encoding name ("rotary", "learned", "sinusoidal", "alibi", "nope") or the published name of
    one that gnomon does not build yet ("t5", "transformer-xl", "deberta").
    `options` uses gnomon's names: rotary has head_dim, rotary_dim, layout, frequencies ({"kind": ..., "base": ...});
    learned has max_length (usable positions), rows, padding_offset, dim; alibi has num_heads.
    `keys` says which key of the config gave each option ("default" when none did).
    """

    kind: str
    where: str  #: "embeddings", "layers.*.attention", or the layer kind ("sliding_attention")
    options: Mapping[str, Any]
    keys: Mapping[str, str] = field(default_factory=dict)
    table_names: tuple[str, ...] = ()  #: tensor names that hold its table, as regular expressions


@dataclass(frozen=True)
class Family:
    """What the field knows of a model type beyond its config file."""

    model_types: tuple[str, ...]
    architecture: Literal["encoder", "decoder", "encoder-decoder"]
    layout: Literal["half", "interleaved"] | None = None
