"""The encoding of one layer, or of all that agree, out of everything that a config claims."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, final

from gnomon.adapters.claims import Claim
from gnomon.adapters.families import claims_in, entry_of
from gnomon.adapters.families.building import encoding_of, same_encoding
from gnomon.adapters.families.config_reader import LAYERS, ConfigReader, Found
from gnomon.adapters.families.layer_kinds import layer_kind
from gnomon.adapters.families.places import Part, Place, Stack
from gnomon.encodings.base import PositionEncoding
from gnomon.errors import GnomonError

DECODER_LAYERS: Final = ("decoder_layers", "num_decoder_layers")


@final
@dataclass(frozen=True)
class Choice:
    """Which of a model's encodings is asked for; None where the config has to decide alone."""

    layer: int | None = None
    stack: Stack | None = None
    part: Part | None = None

    def encoding(self, config: Mapping[str, Any]) -> PositionEncoding:
        """The one encoding that is left; raises GnomonError that lists those that are and says what to give."""
        entry, reader = entry_of(config, vision=self.stack == "vision")
        stated = claims_in(entry, reader)
        if not stated:
            raise GnomonError("The config turns on no position encoding at all; gnomon.encodings.NoPE is what it has.")
        found = self._of_stack(stated)
        if self.layer is not None:
            count = self._layers(reader)
            found = self._of_layer(found, layer_kind(reader, entry.kinds, self.layer, count))
        found = self._of_part(found)
        if not found:
            raise GnomonError(f"The config has no encoding for {self}; leave out what it lacks.")
        if not all(same_encoding(found[0], claim) for claim in found[1:]):
            raise GnomonError(f"The encodings differ: {_list(found)}. {_advice(found, self)}")
        return encoding_of(found[0])

    def _of_stack(self, claims: list[Claim]) -> list[Claim]:
        if self.stack is None or self.stack == "vision":
            return claims
        known = {Place.of(claim.where).stack for claim in claims} - {None}
        if not known:
            raise GnomonError(f"The model has one stack, so stack={self.stack!r} names none; leave it out.")
        return [claim for claim in claims if Place.of(claim.where).stack in (None, self.stack)]

    def _of_layer(self, claims: list[Claim], kind: str | None) -> list[Claim]:
        """What holds in the layer; a claim that names its layers goes before those that hold in all."""
        places = [(claim, Place.of(claim.where)) for claim in claims]
        if kind is None and any(place.kind for _, place in places):
            raise GnomonError(f"The config does not say which kind layer {self.layer} is: {_list(claims)}.")
        held = [pair for pair in places if pair[1].part == "embedding" or pair[1].holds(self.layer or 0, kind)]
        listed = [pair for pair in held if pair[1].layers is not None]
        stacks = {place.stack for _, place in listed}
        return [
            claim
            for claim, place in held
            if place.part == "embedding" or place.layers is not None or place.stack not in stacks
        ]

    def _of_part(self, claims: list[Claim]) -> list[Claim]:
        """The part asked for; a layer's own encoding goes before what was added to the embeddings."""
        if self.part is not None:
            return [claim for claim in claims if Place.of(claim.where).part == self.part]
        inside = [claim for claim in claims if Place.of(claim.where).part == "attention"]
        return inside if self.layer is not None and inside else claims

    def _layers(self, reader: ConfigReader) -> int:
        keys = (*DECODER_LAYERS, *LAYERS) if self.stack == "decoder" else LAYERS
        depths, blocks = reader.config.get("depths"), reader.config.get("layers_block_type")  # Swin; Nemotron-H
        if isinstance(depths, list | tuple) and all(type(depth) is int for depth in depths):
            found = Found(sum(depths), "depths")
        elif isinstance(blocks, list | tuple):
            found = Found(len(blocks), "layers_block_type")
        else:
            found = reader.find(*keys)
        if found.integer is None:
            raise GnomonError("The config does not say how many layers the model has; leave out the layer.")
        if not 0 <= (self.layer or 0) < found.integer:
            raise GnomonError(f"The model has layers 0 to {found.integer - 1} ({found.key}), got layer={self.layer}.")
        return found.integer

    def __str__(self) -> str:
        given = {"layer": self.layer, "stack": self.stack, "part": self.part}
        return ", ".join(f"{name}={value!r}" for name, value in given.items() if value is not None) or "the model"


def _list(claims: list[Claim]) -> str:
    return "; ".join(f"{claim.kind} in {claim.where}" for claim in claims)


def _advice(claims: list[Claim], choice: Choice) -> str:
    """The argument that would tell them apart."""
    places = [Place.of(claim.where) for claim in claims]
    if len({place.stack for place in places} - {None}) > 1 and choice.stack is None:
        return "Give stack='encoder' or stack='decoder'."
    if len({place.part for place in places}) > 1:
        return "Give part='embedding' or part='attention', or a layer."
    return "Give the index of a layer."
