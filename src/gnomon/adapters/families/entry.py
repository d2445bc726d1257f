"""What an entry of the family tables is: a family, and the rules that turn one of its configs into claims."""

from dataclasses import dataclass
from typing import Any

from gnomon.adapters.claims import Family
from gnomon.adapters.families.layer_kinds import OneInEvery
from gnomon.adapters.families.rope_parameters import LayerKind
from gnomon.adapters.families.rotary_rule import Rotation
from gnomon.adapters.families.rules import Rule

WPE = r"(^|\.)wpe\.weight$"
DECODER_TABLE = r"(^|\.)decoder\.embed_positions\.weight$"
FLAT = ("rope_theta",)
FIXED = LayerKind(10000.0, ())  # no key changes it


@dataclass(frozen=True)
class Entry:
    """A family and the rules that turn one of its configs into claims."""

    family: Family
    rules: tuple[Rule, ...]
    kinds: OneInEvery | None = None  #: which kind a layer is, where the config has no layer_types


def encoder(*model_types: str, rules: tuple[Rule, ...], kinds: OneInEvery | None = None) -> Entry:
    return Entry(Family(model_types, "encoder", _layout(rules)), rules, kinds)


def decoder(*model_types: str, rules: tuple[Rule, ...], kinds: OneInEvery | None = None) -> Entry:
    return Entry(Family(model_types, "decoder", _layout(rules)), rules, kinds)


def encoder_decoder(*model_types: str, rules: tuple[Rule, ...]) -> Entry:
    return Entry(Family(model_types, "encoder-decoder", _layout(rules)), rules)


def _layout(rules: tuple[Rule, ...]) -> Any:
    return next((rule.layout for rule in rules if isinstance(rule, Rotation)), None)


def based(base: float, *keys: str) -> LayerKind:
    return LayerKind(base, keys or FLAT)
