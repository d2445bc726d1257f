"""What a model has in place of rotation, in words."""

from collections.abc import Mapping
from typing import Any, Final

from gnomon.adapters.families import claims_in
from gnomon.adapters.families.config_reader import ConfigReader
from gnomon.adapters.families.entry import Entry
from gnomon.adapters.subject import MissingEvidence
from gnomon.resolving.rules.keys import position_keys

WORDS: Final[Mapping[str, str]] = {
    "learned": "a learned table of positions",
    "sinusoidal": "a table of sinusoids",
    "alibi": "ALiBi's biases",
    "t5": "T5's biases",
    "transformer_xl": "Transformer-XL's relative positions",
    "nope": "no positions",
}


def instead_of_rotation(name: str, entry: Entry, reader: ConfigReader) -> str:
    """What the family of a model type has: there is nothing to resolve."""
    try:
        kinds = dict.fromkeys(claim.kind for claim in claims_in(entry, reader))
    except MissingEvidence:
        kinds = {}
    held = " and ".join(WORDS.get(kind, f"positions of the kind {kind}") for kind in kinds)
    return f"{name} has {held + ' and ' if held else ''}no rotation"


def says_nothing(config: Mapping[str, Any]) -> bool:
    """Whether a config has neither a model_type nor any key that bears on positions."""
    return config.get("model_type") is None and next(position_keys(config), None) is None
