"""Rotary settings of a config read under every name: for comparing two configs that may be spelt differently."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from gnomon.adapters.families.config_reader import LENGTH, ConfigReader, inner
from gnomon.adapters.families.published import code_base, code_share
from gnomon.doctor.evidence.rope_blocks import NAMES, RopeBlock, positive, rope_blocks

FLAT_BASES = ("rope_theta", "rotary_emb_base", "rotary_embedding_base", "global_rope_theta")
LOCAL_BASES = ("rope_local_base_freq", "local_rope_theta")
SHARES = ("partial_rotary_factor", "rotary_pct", "rope_pct")
LANES = ("qk_rope_head_dim", "rotary_dim", "rotary_ndims")
FULL, SLIDING = "full_attention", "sliding_attention"
DEFAULT = "the default, for no key states it"


@dataclass(frozen=True)
class Stated:
    """A value and the key that states it, or that it is the default."""

    value: float
    key: str

    def __str__(self) -> str:
        return f"{self.value:.10g} ({self.key})"


@dataclass(frozen=True)
class RotarySettings:
    """What the text model of a config says; `bases` and `scalings` by kind of layer, "" where all share one."""

    part: Mapping[str, Any]
    bases: Mapping[str, Stated]
    scalings: Mapping[str, RopeBlock]
    length: float | None
    lanes: Stated | None  #: rotated lanes of a head

    def base(self, kind: str) -> Stated | None:
        """The base of one kind of layer, whether or not the config tells kinds apart."""
        return self.bases.get(kind) or self.bases.get("") or (self.bases.get(FULL) if kind == "" else None)

    def scaling(self, kind: str) -> RopeBlock | None:
        """The scaling of one kind of layer; None for none."""
        return self.scalings.get(kind) or self.scalings.get("") or (self.scalings.get(FULL) if kind == "" else None)


def rotary_settings(config: Mapping[str, Any]) -> RotarySettings:
    """The settings of a config's text model.

    >>> str(rotary_settings({"rope_parameters": {"rope_theta": 5e5}}).base(""))
    '500000 (rope_parameters.rope_theta)'
    """
    reader = inner(ConfigReader(config))
    part = reader.config
    blocks = [block for block in rope_blocks(part) if block.part is part]
    scaled = {block.layer_kind or "": block for block in blocks if block.rule not in ("default", "mrope", "axial")}
    return RotarySettings(
        part, dict(_bases(part, blocks)), scaled, positive(reader.find(*LENGTH).value), _lanes(reader)
    )


def _bases(part: Mapping[str, Any], blocks: list[RopeBlock]) -> Iterator[tuple[str, Stated]]:
    """Flat keys first, so that blocks win; the default only where neither states a base."""
    flat = next((Stated(value, key) for key in FLAT_BASES if (value := positive(part.get(key)))), None)
    inside = [(block, value) for block in blocks if (value := positive(block.values.get("rope_theta")))]
    if flat or not inside:
        yield "", flat or Stated(code_base(part.get("model_type")), DEFAULT)
    if local := next((Stated(value, key) for key in LOCAL_BASES if (value := positive(part.get(key)))), None):
        yield SLIDING, local
    for block, value in inside:
        yield block.layer_kind or "", Stated(value, f"{block.where}.rope_theta")


def _lanes(reader: ConfigReader) -> Stated | None:
    head, places = reader.head_dim().integer, [("", reader.config), *((f"{n}.", reader.mapping(n)) for n in NAMES)]
    for key in LANES:
        if lanes := positive(reader.config.get(key)):
            return Stated(lanes, key)
    if head is None:
        return None
    for prefix, place in places:
        for key in SHARES:
            if share := positive(place.get(key)):
                return Stated(int(head * share), prefix + key)
    return Stated(int(head * code_share(reader.config.get("model_type"))), DEFAULT)
