"""Looks up the family of a config and gives its claims; the facts stand in encoders.py, decoders.py and images.py."""

from collections.abc import Mapping
from typing import Any

from gnomon.adapters.claims import Claim, Family
from gnomon.adapters.families import decoders, encoders, images
from gnomon.adapters.families.config_reader import ConfigReader, inner, seen
from gnomon.adapters.families.entry import Entry
from gnomon.adapters.subject import MissingEvidence

ENTRIES = (*encoders.ENTRIES, *decoders.ENTRIES, *images.ENTRIES)
BY_MODEL_TYPE = {name: entry for entry in ENTRIES for name in entry.family.model_types}


def family_of(config: Mapping[str, Any]) -> Family:
    """The family of a config; raises MissingEvidence that names the model type when gnomon does not know it."""
    return entry_of(config)[0].family


def claims_of(config: Mapping[str, Any]) -> tuple[Claim, ...]:
    """What a Hugging Face config says about positions; raises MissingEvidence for a model type that is not known.

    >>> [c.kind for c in claims_of({"model_type": "bloom", "n_head": 4})]
    ['alibi']
    """
    entry, reader = entry_of(config)
    return tuple(claims_in(entry, reader))


def claims_in(entry: Entry, reader: ConfigReader) -> list[Claim]:
    """What the rules of an entry claim of a config, in order."""
    return [claim for rule in entry.rules for claim in rule.claims(reader)]


def entry_of(config: Mapping[str, Any], *, vision: bool = False) -> tuple[Entry, ConfigReader]:
    """The entry for a config and the part of it that describes that model: the text model, or the image model.

    Raises MissingEvidence that names the model type when gnomon does not know it.
    """
    outer = ConfigReader(config)
    reader = seen(outer) if vision else inner(outer)
    named = [r.config["model_type"] for r in (reader, outer) if r.config.get("model_type") is not None]
    # Older configs name the image model as the whole, or not at all.
    known = [f"{name}_vision" for name in named] + named[:1] if vision else named
    for name in known:
        if isinstance(name, str) and name in BY_MODEL_TYPE:
            return BY_MODEL_TYPE[name], reader
    given = next(iter(named), None)
    if given is None:
        raise MissingEvidence("the config has no model_type, so its position keys cannot be read")
    raise MissingEvidence(f"model_type {given!r} is not one gnomon knows, so its position keys cannot be read")
