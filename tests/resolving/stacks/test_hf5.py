"""transformers 5: our reading against its real config, rotary and attention classes."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from gnomon.resolving.gallery import Entry, gallery
from gnomon.resolving.given import Given
from gnomon.resolving.reading import Reading, Wanted
from gnomon.resolving.stacks.hf5 import TransformersFive
from tests.helpers.hostile_configs import endured, hostile_configs
from tests.helpers.real_rotary import difference, real_config
from tests.helpers.rotary_configs import configs
from tests.helpers.rotary_families import TURNING
from tests.helpers.stack_readings import KNOWN

STACK = TransformersFive()
#: turned only where the file says so, by a table, with a width of its own, or in an inner config
SPECIAL = {"esm", "wav2vec2-conformer", "roformer", "gptj", "codegen", "gemma3", "falcon"}
NOISE = 2e-6  # float32 tables
CANCELLED = 5e-6  # where float32 subtracts: Llama 3's blend with random numbers
LLAMA = {"model_type": "llama", "hidden_size": 64, "num_attention_heads": 2, "max_position_embeddings": 4096}
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 1024}


def read(config: dict[str, Any]) -> Reading:
    return STACK.reading(Given("made", config=config))


@pytest.mark.parametrize("entry", gallery(), ids=lambda entry: entry.name)
def test_a_known_config_turns_as_in_the_real_classes(entry: Entry) -> None:
    reading = read(entry.config)
    assert reading.serves, reading.refusal + reading.absent
    assert difference(entry.config, reading, NOISE) == ""


@pytest.mark.parametrize("more", [{}, {"rope_scaling": YARN}], ids=["plain", "yarn"])
@pytest.mark.parametrize("family", sorted(set(TURNING) - SPECIAL))
def test_every_family_turns_as_its_real_classes(family: str, more: dict[str, Any]) -> None:
    config = {**LLAMA, "model_type": family, "hidden_size": 256, "num_hidden_layers": 12, "num_key_value_heads": 2}
    assert difference({**config, **more}, read({**config, **more}), NOISE) == ""


@settings(max_examples=400, deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(configs())
def test_any_config_turns_as_in_the_real_classes_or_ends_in_both(config: dict[str, Any]) -> None:
    assert difference(config, read(config), CANCELLED) == ""


def test_provenance_of_a_plain_and_a_scaled_config() -> None:
    reading = read({**LLAMA, "rope_theta": 5e5, "rotary_pct": 0.5, "rope_scaling": {**YARN, "attn_factor": 2.0}})
    used = {item.what: item.key for item in (*reading.used, *reading.layers[0].used)}
    assert used["base"] == "rope_theta"
    assert used["kind"] == "rope_scaling.rope_type"
    assert used["factor"] == "rope_scaling.factor"
    assert used["cap"] == "max_position_embeddings"
    assert {item.key for item in reading.ignored} == {"rotary_pct", "rope_scaling.attn_factor"}


def test_keys_of_a_text_config_have_their_whole_path() -> None:
    gemma = next(entry for entry in gallery() if entry.name == "gemma-3-4b")
    layers = {layer.kind: {item.what: item.key for item in layer.used} for layer in read(gemma.config).layers}
    assert layers["full_attention"]["factor"] == "text_config.rope_scaling.factor"
    assert layers["sliding_attention"]["base"] == "text_config.rope_local_base_freq"


def test_code_from_the_hub_is_read_as_llama_with_a_note() -> None:
    notes = {entry.name: read(entry.config).notes for entry in gallery()}
    assert any("internlm2" in note and "Llama" in note for note in notes["internlm2-7b"])
    assert not any("Llama" in note for note in notes["llama-2-7b"])


def test_code_from_the_hub_is_known_by_reading_only() -> None:
    """transformers has no such classes, so that nothing of theirs ran."""
    sure = {entry.name: read(entry.config).sure for entry in gallery()}
    assert sure["internlm2-7b"] == "by reading"
    assert sure["llama-2-7b"] == "run"
    broken = read({**LLAMA, "model_type": "internlm2", "rope_scaling": {"type": "internlm", "factor": 2.0}})
    assert "model's own code was not traced" in broken.absent
    assert broken.sure == "by reading"
    kimi = {**LLAMA, "model_type": "kimi_k2", "architectures": ["DeepseekV3ForCausalLM"], "qk_rope_head_dim": 64}
    layer = read({**kimi, "rope_scaling": {**YARN, "mscale_all_dim": 1.0}}).layers[0]
    assert read(kimi).sure == "by reading"
    assert (layer.rotary_dim, layer.layout, layer.softmax > 1) == (64, "interleaved", True)


@pytest.mark.parametrize("kind", ["gpt2", "bloom", "t5"])
def test_models_without_rotation_have_no_reading(kind: str) -> None:
    assert read({"model_type": kind}).absent


def test_a_block_that_the_remedy_writes_is_read_as_wanted() -> None:
    block = {**YARN, "rope_theta": 5e5}
    wanted = Wanted("llama", "yarn", 5e5, 4096, 32, 32, 4.0, 1024, block)
    before = Given("made", config={**LLAMA, "rope_scaling": {"type": "dynamic", "factor": 4.0}})
    remedies = list(STACK.remedies(before, wanted))
    assert "rope_parameters.update(" in remedies[0].text
    for remedy in remedies:
        layer = STACK.reading(remedy.after).layers[0]
        assert (layer.rule, layer.base) == ("yarn", 5e5)
    assert "rope_parameters" not in (before.config or {})


def test_hostile_values_end_with_layers_or_a_sentence() -> None:
    assert 0.05 < endured(STACK, "5", hostile_configs()) < 0.95


def test_an_empty_file_has_no_reading() -> None:
    assert read({}).absent


def test_the_base_is_what_the_real_class_holds() -> None:
    for config in KNOWN.values():
        block = getattr(real_config(config), "rope_parameters", None) or {}
        flat = block.get("full_attention", block)
        assert read(config).layers[0].base == flat.get("rope_theta", 10_000.0)
