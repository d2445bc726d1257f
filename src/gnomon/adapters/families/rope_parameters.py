"""Rotary parameters of a config, in every form Hugging Face has written them, one set for each kind of layer.

Forms: version 4 keeps `rope_theta` and `rope_scaling` (with `type`, later `rope_type`) at the top; version 5 keeps one
flat `rope_parameters`, or one for each entry of `layer_types`. Priorities follow `RotaryEmbeddingConfigMixin` of
transformers 5: the inner mapping wins over the flat keys, and those over the family's default.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, final

from gnomon.adapters.families.config_reader import ConfigReader, Found

KINDS = ("full_attention", "sliding_attention", "chunked_attention")
ALIASES = {"su": "longrope", "mrope": "default"}
SCALED_FROM_A_LENGTH = ("llama3", "yarn", "longrope")


@final
@dataclass(frozen=True)
class LayerKind:
    """How one kind of layer gets its base where a family has several (Gemma 3)."""

    base: float
    base_keys: tuple[str, ...]
    scaled: bool = True  #: a flat `rope_scaling` applies to this kind
    absent: Mapping[str, Any] = field(default_factory=dict)  #: parameters of a config that gives none
    head_dim: int | None = None  #: width of a head where this kind has its own (Gemma 4) and the config does not say


@final
@dataclass(frozen=True)
class Rope:
    """Parameters for one kind of layer; `kind` is None when all layers share them, `values` None for no rotation."""

    kind: str | None
    values: Mapping[str, Found] | None
    type: Found = field(default_factory=lambda: Found("default", "default"))


def read_ropes(config: ConfigReader, base: LayerKind, kinds: Mapping[str, LayerKind]) -> Iterator[Rope]:
    """One Rope for each kind of layer. `base` is the family's rule, `kinds` the exceptions by kind of layer."""
    nests = len(kinds) > 1  # the class keeps one set for each kind; with a single exception all layers share one
    key = _source(config, prefer_new=nests)
    raw = config.mapping(key)
    nested = (
        [name for name in raw if name in (*config.names("layer_types"), *KINDS)] if key == "rope_parameters" else []
    )
    present = config.names("layer_types")
    for name in kinds or nested or (None,):
        if name is not None and present and name not in present:
            continue
        rule = kinds.get(name, base) if name else base
        if name in nested:
            inner, path = raw[name], config.named(f"{key}.{name}.")
            if name in kinds:
                inner = inner or {}
        else:
            inner, path = (
                (raw if rule.scaled and not (nests and key == "rope_parameters") else {}),
                config.named(f"{key}."),
            )
        yield Rope(name, None) if not isinstance(inner, Mapping) else _rope(config, name, inner, path, rule)


def _source(config: ConfigReader, *, prefer_new: bool) -> str:
    order = ("rope_parameters", "rope_scaling") if prefer_new else ("rope_scaling", "rope_parameters")
    return next((key for key in order if config.mapping(key)), "rope_parameters")


def _rope(config: ConfigReader, kind: str | None, inner: Mapping[str, Any], path: str, rule: LayerKind) -> Rope:
    values = {key: Found(value, path + key) for key, value in inner.items() if value is not None}
    if not values:
        values = {key: Found(value, "default") for key, value in rule.absent.items()}
    named = values.pop("rope_type", None) or values.get("type") or Found("default", "default")
    values.pop("type", None)
    rope_type = Found(ALIASES.get(str(named.value), named.value), named.key)
    if "rope_theta" not in values:
        values["rope_theta"] = config.find(*rule.base_keys, default=rule.base)
    if rope_type.value in SCALED_FROM_A_LENGTH:
        _original_length(config, kind, values)
    return Rope(kind, values, rope_type)


def _original_length(config: ConfigReader, kind: str | None, values: dict[str, Found]) -> None:
    key = "original_max_position_embeddings"
    outer = config.find(key)
    if outer.value is not None and kind is None:
        values[key] = outer
    elif key not in values:
        values[key] = config.find("max_position_embeddings")
