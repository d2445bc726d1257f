"""What a remedy prints is all that was applied: no key of the file is changed that its text, or a flag, leaves out."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any

import pytest

from gnomon.resolving.gallery import gallery
from gnomon.resolving.given import Given
from gnomon.resolving.lengths import lengths_for
from gnomon.resolving.rules.keys import PARTS
from gnomon.resolving.stack import registry
from gnomon.resolving.telling.mending import MOST, wanted
from gnomon.resolving.telling.rereading import reading_of

BLOCKS = ("rope_parameters", "rope_scaling")
#: flags that replace the rotary block, whichever of its names the file has
FLAGS: Mapping[str, tuple[str, ...]] = {
    "--hf-overrides": BLOCKS,
    "--json-model-override-args": BLOCKS,
    "--rope-scaling dynamic --rope-factor": BLOCKS,
    "--rotary-base": (*BLOCKS, "rope_theta"),
    "config.rope_parameters.update(": BLOCKS,
    "llama-server": (),
}


def text_model(config: Mapping[str, Any]) -> Mapping[str, Any]:
    inner: Mapping[str, Any] = next((config[part] for part in PARTS if isinstance(config.get(part), Mapping)), {})
    return {**{key: value for key, value in config.items() if key not in PARTS}, **inner}


def left_out(before: Given, after: Given, text: str) -> set[str]:
    old, new = text_model(before.config or {}), text_model(after.config or {})
    changed = {key for key in {**old, **new} if old.get(key) != new.get(key)}
    by_flags = {key for flag, keys in FLAGS.items() if flag in text for key in keys}
    return {key for key in changed if key not in text} - by_flags


def spellings(given: Given) -> Iterator[Given]:
    """As it stands, as transformers 5 saves it, and with both blocks as some tools write it."""
    config = dict(given.config or {})
    yield given
    if any(isinstance(config.get(part), Mapping) for part in PARTS) or "rope_parameters" in config:
        return
    old = dict(config.get("rope_scaling") or {})
    kind = old.pop("type", "default")
    block = {"rope_type": kind, **old, "rope_theta": config.get("rope_theta", 1e4)}
    bare = {key: value for key, value in config.items() if key not in ("rope_scaling", "rope_theta")}
    yield replace(given, config={**bare, "rope_parameters": block})
    yield replace(given, config={**config, "rope_scaling": block, "rope_parameters": block})


@pytest.mark.parametrize("name", registry.names())
def test_the_text_of_a_remedy_names_every_key_that_it_changes(name: str) -> None:
    stack, reference = registry.get(name)(), registry.get("hf5")()
    for given in (spelt for entry in gallery() for spelt in spellings(entry.given)):
        lengths = lengths_for(given)
        held = reading_of((reference, reference.versions[0]), given, lengths)
        aim = wanted(given, held, lengths.served)
        for remedy in islice(stack.remedies(given, aim), MOST) if aim else ():
            if remedy.after.config is not None:
                assert left_out(given, remedy.after, remedy.text) == set(), (given.name, remedy.text)
