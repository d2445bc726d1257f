"""Looks up the family of a config and gives its claims; the facts stand in encoders.py and decoders.py."""

from collections.abc import Iterator, Mapping
from typing import Any

from gnomon.adapters.claims import Claim, Family
from gnomon.adapters.families import decoders, encoders
from gnomon.adapters.families.config_reader import ConfigReader, inner
from gnomon.adapters.families.entry import Entry
from gnomon.adapters.families.rules import Rule
from gnomon.adapters.subject import MissingEvidence

ENTRIES = (*encoders.ENTRIES, *decoders.ENTRIES)
BY_MODEL_TYPE = {name: entry for entry in ENTRIES for name in entry.family.model_types}


def family_of(config: Mapping[str, Any]) -> Family:
    """The family of a config; raises MissingEvidence that names the model type when gnomon does not know it."""
    return _entry(config)[0].family


def claims_of(config: Mapping[str, Any]) -> tuple[Claim, ...]:
    """What a Hugging Face config says about positions; raises MissingEvidence for a model type that is not known.

    >>> [c.kind for c in claims_of({"model_type": "bloom", "n_head": 4})]
    ['alibi']
    """
    entry, reader = _entry(config)
    return tuple(_each(entry.rules, reader))


def _each(rules: tuple[Rule, ...], reader: ConfigReader) -> Iterator[Claim]:
    for rule in rules:
        yield from rule.claims(reader)


def _entry(config: Mapping[str, Any]) -> tuple[Entry, ConfigReader]:
    outer = ConfigReader(config)
    reader = inner(outer)
    named = [r.config.get("model_type") for r in (reader, outer)]
    for name in named:
        if isinstance(name, str) and name in BY_MODEL_TYPE:
            return BY_MODEL_TYPE[name], reader
    given = next((name for name in named if name is not None), None)
    if given is None:
        raise MissingEvidence("the config has no model_type, so its position keys cannot be read")
    raise MissingEvidence(f"model_type {given!r} is not one gnomon knows, so its position keys cannot be read")
