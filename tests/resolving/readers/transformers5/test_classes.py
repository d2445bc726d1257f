"""Facts about config classes against transformers itself."""

import importlib
import inspect
import logging
from dataclasses import fields
from typing import Any

import pytest
import torch
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

from gnomon.adapters.families.config_reader import ConfigReader
from gnomon.adapters.families.rotary_rule import Rotation
from gnomon.resolving.readers.transformers5.classes import (
    DECLARING,
    HEADLESS,
    NESTING,
    ORIGINAL_LENGTHS,
    OTHERS,
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


@pytest.mark.parametrize("name", sorted({*OTHERS, "llama", "qwen3", "glm4", "cohere", "ernie4_5"}))
def test_the_pairing_of_columns(name: str) -> None:
    """A quarter turn of the first of eight columns goes to its partner: the fifth, or the next one."""
    module = importlib.import_module(type(_config(name)).__module__.replace("configuration_", "modeling_"))
    first = torch.eye(8)[:1].reshape(1, 1, 1, 8)
    turned, _ = module.apply_rotary_pos_emb(first, first, torch.zeros(1, 1, 8), torch.ones(1, 1, 8))
    partner = {"half": 4, "interleaved": 1}[rotation_of(name).layout]
    assert turned.flatten().nonzero().flatten().tolist() == [partner]


@pytest.mark.parametrize(
    "name",
    [
        *("deepseek_v32", "deepseek_v4", "glm4_moe_lite", "dots3_note_text", "gemma3n_text", "gemma4_unified_text"),
        *("laguna", "lfm3", "mellum", "mimo_v2_flash", "zamba2", "zaya", "dory", "apertus", "cwm", "cohere2_moe"),
        *("glm_moe_dsa", "longcat_flash", "bailing_hybrid", "youtu", "axk1", "axk2", "kimi_k2", "no_such_type"),
    ],
)
def test_a_class_that_was_not_compared_has_no_reading(name: str) -> None:
    """Read as Llama, their widths, layouts or frequencies were wrong."""
    with pytest.raises(NoSuchModel, match="not compared"):
        class_of({"model_type": name, "hidden_size": 64, "num_attention_heads": 2})


def test_kimi_runs_the_class_that_its_architectures_name() -> None:
    model, reader = class_of(
        {"model_type": "kimi_k2", "architectures": ["DeepseekV3ForCausalLM"], "qk_rope_head_dim": 6}
    )
    assert (model.name, model.rotation.layout) == ("deepseek_v3", "interleaved")
    assert "deepseek_v3" in model.notes[0]
    assert model.rotation.head_width(reader, None).value == 6


def test_models_without_rotation_and_types_that_are_not_known() -> None:
    with pytest.raises(NoSuchModel, match="gpt2"):
        class_of({"model_type": "gpt2"})
    model, _ = class_of({"model_type": "internlm2"})
    assert "Llama" in model.notes[0]
    assert rotation_of("no such type") == Rotation(base=rotation_of("no such type").base)


def _class(name: str) -> Any:
    return class_of({"model_type": name, "alibi": False})
