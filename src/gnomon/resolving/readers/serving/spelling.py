"""Both spellings of the kind of scaling, as the file has them."""

from collections.abc import Mapping
from typing import Any

from gnomon.resolving.readers.serving.layers import Layer
from gnomon.resolving.readers.transformers5 import Block
from gnomon.resolving.reading import DEFAULT
from gnomon.resolving.rules.choices import Choices
from gnomon.resolving.rules.keys import Keys


def spelled(layer: Layer) -> tuple[Any, Any]:
    """`rope_type` and `type` of the block that the layer came from; None for one that is not there."""
    held = _held(layer.file, layer.block)
    return held.get("rope_type"), held.get("type")


def kind_in_file(file: Keys, block: Block, choices: Choices) -> str | None:
    """The kind in the file by `kind_key`; None where there is neither spelling, or no text."""
    held = _held(file, block)
    first, second = choices.kind_names
    kind = held.get(first) or held.get(second)
    return kind if isinstance(kind, str) else None


def _held(file: Keys, block: Block) -> Mapping[str, Any]:
    origin = block.origins.get("rope_type", DEFAULT)
    place: Any = file.values if origin != DEFAULT else {}
    for step in origin.split(".")[:-1]:
        place = place.get(step) if isinstance(place, Mapping) else None
    return place if isinstance(place, Mapping) else {}
