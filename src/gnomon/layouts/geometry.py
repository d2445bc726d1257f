"""How wide the heads of a family are, how much of each is turned, and in which pairs: from the config."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

from gnomon.adapters.claims import Claim
from gnomon.adapters.families import claims_in, entry_of
from gnomon.adapters.families.config_reader import HEADS, LAYERS, ConfigReader
from gnomon.adapters.families.layer_kinds import layer_kind
from gnomon.adapters.subject import MissingEvidence
from gnomon.doctor.evidence.expected import rotary_dim
from gnomon.doctor.evidence.query_key_rows import Heads
from gnomon.errors import GnomonError
from gnomon.kernels.rotation import Layout

KINDS = ("rotary", "mrope")
SWITCHES = ("rope_interleave",)  #: keys by which a family's class can be told the pairs
ELSEWHERE: Mapping[str, str] = {
    "wav2vec2-conformer": "turns hidden states before queries and keys are made of them",
}


@final
@dataclass(frozen=True)
class Geometry:
    """What moving rows needs to know of a model: `layout` is what its own class turns."""

    config: ConfigReader
    model_type: str
    layout: Layout
    heads: int  #: of queries
    kinds: Mapping[str, Heads]
    layers: tuple[str, ...]

    def head(self, layer: int) -> Heads:
        """The head of one layer; that of the others where this one has no rotation, or is not among the stated ones."""
        kind = self.layers[layer] if layer < len(self.layers) else ""
        return self.kinds.get(kind) or next(iter(self.kinds.values()))

    @property
    def latent(self) -> bool:
        """Whether a part of each head alone is turned, and keys share theirs (multi-head latent attention)."""
        return self.config.find("qk_rope_head_dim").integer is not None or self.model_type.startswith("deepseek_v")


def geometry_of(config: Mapping[str, Any]) -> Geometry:
    """The geometry that a config.json states; raises GnomonError where it states none whose rows can be moved.

    >>> geometry = geometry_of({"model_type": "llama", "hidden_size": 32, "num_attention_heads": 4})
    >>> geometry.layout, geometry.head(0)
    ('half', Heads(width=8, rotated=8))
    """
    try:
        entry, reader = entry_of(config)
        claims = [claim for claim in claims_in(entry, reader) if claim.kind in KINDS]
        kinds = {claim.where: _head(claim) for claim in claims}
    except MissingEvidence as missing:
        raise GnomonError(f"The heads of this model are not known: {missing}.") from None
    model_type = str(reader.config.get("model_type", config.get("model_type")))
    reason = ELSEWHERE.get(model_type) or ("turns its values too" if reader.config.get("rotary_value") is True else "")
    if reason or not claims:
        why = reason or "has no rotation of queries and keys"
        raise GnomonError(f"A model of type {model_type!r} {why}, so no rows of queries and keys can be moved for it.")
    heads = reader.find(*HEADS).integer
    if heads is None:
        raise GnomonError(f"The config must state how many heads there are, under one of {', '.join(HEADS)}.")
    count = reader.find(*LAYERS).integer or 0
    layers = tuple(layer_kind(reader, entry.kinds, layer, count) or "" for layer in range(count))
    return Geometry(reader, model_type, _layout(claims), heads, kinds, layers)


def switched(config: Mapping[str, Any], layout: Layout) -> tuple[dict[str, Any], str]:
    """The config with the key that tells the family's class to turn the pairs of `layout`, and that key with its value.

    As it is, and no words, where no such key is known.
    """
    for key in SWITCHES:
        told, not_told = (_with(config, key, value) for value in (layout == "interleaved", layout != "interleaved"))
        if geometry_of(told).layout == layout != geometry_of(not_told).layout:
            return told, f"{key} is {str(layout == 'interleaved').lower()}"
    return dict(config), ""


def _with(config: Mapping[str, Any], key: str, value: bool) -> dict[str, Any]:
    """The config with a key set beside those of its text model."""
    part = geometry_of(config).config.named("").rstrip(".")
    return {**config, part: {**config[part], key: value}} if part else {**config, key: value}


def _layout(claims: list[Claim]) -> Layout:
    found = {claim.options.get("layout") for claim in claims}
    if found == {"half"}:
        return "half"
    if found == {"interleaved"}:
        return "interleaved"
    raise GnomonError(f"The config does not say in one voice which lanes are paired: {sorted(map(str, found))}.")


def _head(claim: Claim) -> Heads:
    width, rotated = claim.options.get("head_dim"), rotary_dim(claim)
    if type(width) is not int or rotated % 2 or rotated > width:
        raise MissingEvidence(f"{rotated} turned lanes of a head of {width} are no pairs")
    return Heads(width, rotated)
