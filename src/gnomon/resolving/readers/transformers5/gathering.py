"""How the classes of transformers 5.24 fill a rotary block: `convert_rope_params_to_dict`, `standardize_rope_params`.

What stands in the block stays, be it null; then come the keys beside it, then the defaults of the class. `rope_scaling`
replaces `rope_parameters`, but in classes with a block for each layer type, where it is laid over one of them.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final, final

from gnomon.adapters.families.config_reader import LAYERS, ConfigReader, Found
from gnomon.adapters.families.layer_kinds import layer_kind
from gnomon.adapters.families.rope_parameters import KINDS, SCALED_FROM_A_LENGTH
from gnomon.adapters.families.rotary_rule import CountOrFraction, Fraction
from gnomon.adapters.plausible import MOST_LAYERS
from gnomon.resolving.readers.transformers5.classes import (
    DECLARING,
    KIND_NAMES,
    NESTING,
    ONLY_KINDS,
    ORIGINAL_LENGTHS,
    PLAIN,
    ModelClass,
)
from gnomon.resolving.reading import ALL, DEFAULT
from gnomon.resolving.stopping import ConfigStops, StackStops

ORIGINAL: Final = "original_max_position_embeddings"
PARTIAL: Final = "partial_rotary_factor"
NEW, OLD = "rope_parameters", "rope_scaling"
FULL = "full_attention"


@final
class Gathering:
    """A block under construction: what is there already, be it null, is not replaced by `add`."""

    def __init__(self, values: Mapping[str, Any], path: str = "") -> None:
        self.values = dict(values)
        self.origins = {key: path + key if path else DEFAULT for key in values}

    def add(self, name: str, found: Found) -> None:
        if name not in self.values:
            self.put(name, found)

    def put(self, name: str, found: Found) -> None:
        self.values[name], self.origins[name] = found.value, found.key

    def name_kind(self, names: Mapping[str, str]) -> None:
        """`rope_type`, else `type`, else "default"; then the other name that the class has for it."""
        found = Found("default", DEFAULT)
        if "type" in self.values:
            found = Found(self.values["type"], self.origins["type"])
        self.add("rope_type", found)
        for each in (self.values, self.origins):
            each.pop("type", None)
        kind = self.values["rope_type"]
        self.values["rope_type"] = names.get(kind, kind) if isinstance(kind, str) else kind


def gathered(model: ModelClass, config: ConfigReader) -> Iterator[tuple[str, Gathering]]:
    """The block of each kind of layer that the class keeps one for."""
    if model.name in PLAIN:
        block = Gathering({})
        block.add("rope_theta", _base(model, config))
        block.name_kind({})
        yield ALL, block
    elif model.name == "gemma4_text":
        yield from _as_given(model, config)
    elif model.name in NESTING:
        yield from _nested(model, config)
    else:
        yield ALL, _flat(model, config)


def _flat(model: ModelClass, config: ConfigReader) -> Gathering:
    key = OLD if config.config.get(OLD) else NEW
    held = config.config.get(key)
    if held is None:
        block = Gathering(model.rotation.base.absent)
    else:
        block = Gathering(mapping(held, config.named(key)), config.named(key) + ".")
    nested = [name for name in block.values if name in KINDS]
    if nested and model.name in DECLARING:
        raise StackStops(f"{config.named(key)} has a block for {nested[0]}, and {model.name} reads one for all layers")
    block.add("rope_theta", _base(model, config))
    share = share_of(model, config)
    if share is not None:
        block.add(PARTIAL, share)
    _stops_on_su(model, block)
    block.name_kind(KIND_NAMES.get(model.name, {}))
    kind = block.values["rope_type"]
    if not isinstance(kind, str):
        raise StackStops(f"KeyError: {kind!r} is no kind of scaling")
    if model.name in ONLY_KINDS and kind not in ONLY_KINDS[model.name]:
        raise StackStops(f"ValueError: {model.name} takes {' and '.join(sorted(ONLY_KINDS[model.name]))}, not {kind!r}")
    if kind in SCALED_FROM_A_LENGTH:
        _original_length(model, config, block)
    return block


def _stops_on_su(model: ModelClass, block: Gathering) -> None:
    """Phi-3's class renames `su` after it put the original length into the block: it does so for known kinds alone."""
    kind = block.values.get("rope_type", block.values.get("type"))
    if model.name == "phi3" and kind == "su" and ORIGINAL not in block.values:
        raise ConfigStops(f"KeyError: Missing required keys for 'rope_type'='longrope': {ORIGINAL} in the block itself")


def _original_length(model: ModelClass, config: ConfigReader, block: Gathering) -> None:
    """The config's own, or the class's, goes before the block's: modules put blocks in order once more when built."""
    if ORIGINAL in config.config:
        block.put(ORIGINAL, Found(config.config[ORIGINAL], config.named(ORIGINAL)))
    elif model.name in ORIGINAL_LENGTHS:
        block.put(ORIGINAL, Found(ORIGINAL_LENGTHS[model.name], DEFAULT))
    else:
        block.add(ORIGINAL, model.longest(config))


def _nested(model: ModelClass, config: ConfigReader) -> Iterator[tuple[str, Gathering]]:
    old, new = config.config.get(OLD), config.config.get(NEW)
    held = {} if new is None else mapping(new, config.named(NEW))
    listed = _kinds(model, config)
    for kind, rule in model.rotation.kinds.items():
        path = f"{config.named(NEW)}.{kind}."
        block = Gathering({"rope_type": "default"}) if held.get(kind) is None else Gathering(held[kind], path)
        if old is not None and (kind == FULL or model.name.startswith("modernbert")):
            if new is not None and held.get(kind) is None:
                raise StackStops(f"{config.named(NEW)} has no block for {kind} that {OLD} could be laid over")
            for name, value in mapping(old, config.named(OLD)).items():
                block.put(name, Found(value, f"{config.named(OLD)}.{name}"))
        block.add("rope_theta", first(config, rule.base_keys, rule.base))
        if config.config.get(PARTIAL) is not None:
            block.add(PARTIAL, config.find(PARTIAL))
        block.name_kind({})
        if block.values["rope_type"] in SCALED_FROM_A_LENGTH:
            block.add(ORIGINAL, model.longest(config))
        # The formula looks for this key beside the blocks, never inside one.
        block.values.pop("truncate", None)
        if "truncate" in held:
            block.put("truncate", Found(held["truncate"], f"{config.named(NEW)}.truncate"))
        if not listed or kind in listed:
            yield kind, block


def _kinds(model: ModelClass, config: ConfigReader) -> set[str]:
    """The kinds that some layer is of, by the file's list or by the class's rule; empty where the file says nothing."""
    listed, count = config.names("layer_types"), config.find(*LAYERS).up_to(MOST_LAYERS)
    if listed or count is None:
        return set(listed)
    return {kind for layer in range(count) if (kind := layer_kind(config, model.kinds, layer, count)) is not None}


def _as_given(model: ModelClass, config: ConfigReader) -> Iterator[tuple[str, Gathering]]:
    """Gemma 4 adds nothing to what stands in the file."""
    if config.config.get(OLD) is not None:
        raise StackStops(f"{model.name} has no {OLD}; its blocks stand in {NEW}, one for each layer type")
    held = config.config.get(NEW)
    listed = _kinds(model, config)
    for kind, rule in model.rotation.kinds.items():
        if listed and kind not in listed:
            continue
        if held is None:
            block = Gathering({"rope_theta": rule.base, "rope_type": "default", **rule.absent})
        else:
            inner = mapping(held, config.named(NEW)).get(kind, {})
            block = Gathering(mapping(inner, f"{config.named(NEW)}.{kind}"), f"{config.named(NEW)}.{kind}.")
        block.name_kind({})
        rule = block.values["rope_type"]
        needed = ["rope_theta"] if rule in ("default", "llama3", "proportional") else []
        needed += [ORIGINAL] if rule in SCALED_FROM_A_LENGTH else []
        for name in needed:
            if name not in block.values:
                raise StackStops(f"KeyError: the block for {kind} lacks {name}")
        if rule != "default":  # formulas of scaled kinds put the block in order, that of the plain one does not
            block.add("rope_theta", first(config, ("rope_theta",), None))
            if config.config.get(PARTIAL) is not None:
                block.add(PARTIAL, config.find(PARTIAL))
        yield kind, block


def _base(model: ModelClass, config: ConfigReader) -> Found:
    return first(config, model.base_keys, model.rotation.base.base)


def share_of(model: ModelClass, config: ConfigReader) -> Found | None:
    """The rotated share that is added to a block: from beside it, under the class's name for it, or its default."""
    rule = model.rotation.rotated
    if isinstance(rule, CountOrFraction):
        count, width = config.find(rule.key), model.rotation.head_width(config, None)
        if count.value is not None and count.integer and width.integer:
            return Found(count.integer / width.integer, count.key)
    if model.name.startswith("gpt_neox") and isinstance(rule, Fraction):
        return first(config, ("rotary_pct",), rule.default)
    default = rule.default if isinstance(rule, Fraction) else None
    found = first(config, (PARTIAL,), default)
    return None if found.value is None else found


def first(config: ConfigReader, keys: tuple[str, ...], default: Any) -> Found:
    """The first of `keys` that stands in the file, null or not."""
    for key in keys:
        if key in config.config:
            return Found(config.config[key], config.named(key))
    return Found(default, DEFAULT)


def mapping(held: Any, path: str) -> Mapping[str, Any]:
    """A block as a mapping; raises StackStops for anything else."""
    if not isinstance(held, Mapping):
        raise StackStops(f"{path} is {held!r}, which is no mapping")
    return held
