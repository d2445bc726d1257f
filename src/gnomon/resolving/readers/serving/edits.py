"""The wanted scaling written into a config, for remedies: the text that people type, and the file as it then is."""

import json
from collections.abc import Mapping
from typing import Any

from gnomon.resolving.given import Given
from gnomon.resolving.reading import Wanted
from gnomon.resolving.rules.keys import PARTS

NEW, OLD = "rope_parameters", "rope_scaling"


def block_of(wanted: Wanted, values: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """A whole rotary block: `values` or the wanted ones, with kind and base; without what is null."""
    held = dict(wanted.block or {}) if values is None else dict(values)
    held = {key: value for key, value in held.items() if value is not None}
    return {"rope_type": wanted.rule, **held, "rope_theta": wanted.base}


def part_of(config: Mapping[str, Any]) -> str:
    """The name of the inner config of the text model; empty where there is none."""
    return next((name for name in PARTS if isinstance(config.get(name), Mapping) and config[name]), "")


def edited(given: Given, edits: Mapping[str, Any]) -> Given:
    """The file with keys of its text model replaced; a key whose value is None is left out."""
    config = given.config or {}
    part = part_of(config)
    if not part:
        return given.edited(edits)
    inner = {key: value for key, value in {**config[part], **edits}.items() if value is not None}
    return given.edited({part: inner})


def new_form(given: Given, block: Mapping[str, Any], **more: Any) -> Given:
    """With `rope_parameters` in place of any block that is there."""
    return edited(given, {OLD: None, NEW: dict(block), **more})


def old_form(given: Given, block: Mapping[str, Any], **more: Any) -> Given:
    """With `rope_scaling` and a base beside it, in place of any block that is there."""
    inner = {key: value for key, value in block.items() if key != "rope_theta"}
    return edited(given, {NEW: None, OLD: inner, "rope_theta": block.get("rope_theta"), **more})


def old_flat_form(given: Given, block: Mapping[str, Any], **more: Any) -> Given:
    """With `rope_scaling`, the base in it, in place of any block that is there."""
    return edited(given, {NEW: None, OLD: dict(block), **more})


def typed(given: Given, keys: Mapping[str, Any]) -> str:
    """Keys of the text model as one JSON argument of a command, within the inner config where there is one."""
    part = part_of(given.config or {})
    return json.dumps({part: dict(keys)} if part else dict(keys))


def typed_edit(given: Given, keys: Mapping[str, Any], after: Given) -> str:
    """An edit of config.json in words: the keys that are set, and after "without" those that `after` has no longer."""
    return typed(given, {key: value for key, value in keys.items() if value is not None}) + _without(given, after)


def _without(given: Given, after: Given) -> str:
    before, now = (_text_model(each.config or {}) for each in (given, after))
    gone = [key for key in before if key not in now]
    return f", without {' and '.join(gone)}" if gone else ""


def _text_model(config: Mapping[str, Any]) -> Mapping[str, Any]:
    part = part_of(config)
    held: Mapping[str, Any] = config[part] if part else config
    return held


def nested(given: Given) -> bool:
    """Whether layer types have blocks of their own, or need them: then no single block says what is wanted."""
    config = given.config or {}
    part = part_of(config)
    held = config[part] if part else config
    block = held.get(NEW)
    return "rope_local_base_freq" in held or (
        isinstance(block, Mapping) and any(isinstance(value, Mapping) for value in block.values())
    )
