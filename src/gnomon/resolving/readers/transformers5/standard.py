"""Rotary parameters as transformers' config classes hold them once built, each with the key that it came from."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, final

from gnomon.adapters.families.config_reader import Found
from gnomon.resolving.reading import ALL, Layout, Used
from gnomon.resolving.rules.angles import Temperature
from gnomon.resolving.rules.keys import Keys


@final
@dataclass(frozen=True, eq=False)
class Block:
    """One kind of layer.

    `values` is its rotary block with the names of transformers 5 (`rope_type`, `rope_theta`, `factor` ...), without
    `type`; `origins` has the dotted path of each value in the file, "default" for what the class adds. Both are empty
    where nothing turns. `head_dim` is the width that the softmax scale is made of, `turned` the part of a head that the
    rule for the rotated width starts from (another in DeepSeek only), `rotary_dim` the width that turns, 0 for none.
    `softmax` multiplies 1/sqrt(head_dim). `layers` are the numbers of the layers of this kind, None where all are or
    the file does not list them.
    """

    kind: str
    head_dim: Found
    turned: Found
    rotary_dim: Found
    layout: Layout
    values: Mapping[str, Any] = field(default_factory=dict)
    origins: Mapping[str, str] = field(default_factory=dict)
    softmax: float = 1.0
    temperature: Temperature | None = None
    used: tuple[Used, ...] = ()  #: what decided width, softmax multiplier and temperature
    notes: tuple[str, ...] = ()
    layers: tuple[int, ...] | None = None

    @property
    def turns(self) -> bool:
        return bool(self.values)

    @property
    def rule(self) -> Any:
        """The kind of scaling, whatever the file calls it: text as a rule, anything where the file is wrong."""
        return self.values.get("rope_type", "none")

    @property
    def base(self) -> Any:
        return self.values.get("rope_theta")

    def keys(self, file: Keys) -> Keys:
        """A view of `values` that notes the places in `file` which they came from: for the functions of `scaling`."""
        return file.laid(self.values, self.origins)


@final
@dataclass(frozen=True, eq=False)
class Standard:
    """A whole config.

    `part` is the dotted path of the text model in the file, with its dot ("" or "text_config."). `longest` is
    max_position_embeddings, or what the class calls it. `original` is the config-level
    original_max_position_embeddings, None where there is none; blocks that need it hold it already.
    """

    model_type: str
    blocks: tuple[Block, ...]
    longest: Found
    original: Found
    part: str = ""
    notes: tuple[str, ...] = ()

    def block(self, kind: str) -> Block | None:
        """That of a kind of layer, or the one for all layers."""
        named = {block.kind: block for block in self.blocks}
        return named.get(kind) or named.get(ALL)
