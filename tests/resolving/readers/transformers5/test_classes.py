"""Facts about config classes against transformers itself."""

import importlib
import inspect
import logging
from dataclasses import fields
from typing import Any

import pytest
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

from gnomon.adapters.families.config_reader import ConfigReader
from gnomon.adapters.families.rotary_rule import Rotation
from gnomon.resolving.readers.transformers5.classes import (
    DECLARING,
    HEADLESS,
    NESTING,
    ORIGINAL_LENGTHS,
    PLAIN,
    class_of,
    rotation_of,
)
from gnomon.resolving.stopping import NoSuchModel
from tests.helpers.rotary_families import TURNING

logging.getLogger("transformers").setLevel(logging.CRITICAL)


def _config(name: str) -> Any:
    return CONFIG_MAPPING[name](hidden_size=64, num_attention_heads=2).get_text_config()


@pytest.mark.parametrize("name", sorted(set(TURNING) - {"gemma4_text", "wav2vec2-conformer"}))
def test_the_longest_length_and_the_original_one(name: str) -> None:
    real = _config(name)
    model, _ = class_of({"model_type": name, "position_embedding_type": "rotary"}) if name == "esm" else _class(name)
    assert model.longest(ConfigReader({})).value == real.max_position_embeddings
    assert ORIGINAL_LENGTHS.get(name) == getattr(real, "original_max_position_embeddings", None)


@pytest.mark.parametrize("name", sorted(set(TURNING) - {"gemma4_text"}))
def test_what_a_class_keeps(name: str) -> None:
    """A rotary block at all; one for each layer type; a declared list of layer types; a head width worked out."""
    real = _config(name)
    held = getattr(real, "rope_parameters", None)
    assert (held is None) == (name in PLAIN)
    assert ("full_attention" in (held or {})) == (name in NESTING)
    declared = "layer_types" in {field.name for field in fields(real)}
    assert declared == (name in DECLARING or name in NESTING)
    assert (getattr(real, "head_dim", 1) is None) == (name in HEADLESS)


@pytest.mark.parametrize("name", sorted(set(TURNING) - PLAIN - NESTING))
def test_the_base_of_a_file_without_one(name: str) -> None:
    real = _config(name).rope_parameters["rope_theta"]
    absent = rotation_of(name).base.absent
    assert absent.get("rope_theta", rotation_of(name).base.base) == real


def test_every_rotary_module_of_a_declaring_class_reads_one_block() -> None:
    for name in sorted(DECLARING):
        module = importlib.import_module(type(_config(name)).__module__.replace("configuration_", "modeling_"))
        found = [
            kind
            for title, kind in inspect.getmembers(module, inspect.isclass)
            if title.endswith("RotaryEmbedding") and "Vision" not in title and kind.__module__ == module.__name__
        ]
        assert all('rope_parameters["rope_type"]' in inspect.getsource(kind) for kind in found), name


def test_models_without_rotation_and_types_that_are_not_known() -> None:
    with pytest.raises(NoSuchModel, match="gpt2"):
        class_of({"model_type": "gpt2"})
    model, _ = class_of({"model_type": "internlm2"})
    assert "Llama" in model.notes[0]
    assert rotation_of("no such type") == Rotation(base=rotation_of("no such type").base)


def _class(name: str) -> Any:
    return class_of({"model_type": name, "alibi": False})
