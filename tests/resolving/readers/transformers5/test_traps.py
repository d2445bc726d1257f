"""What transformers 5 makes of files that seem to say something else, seen in its real classes too."""

from typing import Any

import numpy as np
import pytest

from gnomon.resolving.given import Given
from gnomon.resolving.reading import Reading
from gnomon.resolving.rules import formulas
from gnomon.resolving.stack import registry
from gnomon.resolving.stacks.hf5 import TransformersFive
from tests.helpers.real_rotary import RealRotary, difference, real_config
from tests.helpers.stack_readings import Read

STACK = TransformersFive()
NOISE = 2e-6  # float32 tables
LLAMA = {"model_type": "llama", "hidden_size": 64, "num_attention_heads": 2, "max_position_embeddings": 4096}
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 1024}


def reading_of(config: dict[str, Any]) -> Reading:
    return Read(STACK, config).reading


def ratios(reading: Reading, length: int = 1) -> np.ndarray:
    """Frequencies over the plain ones of the same base."""
    layer = reading.layers[0]
    assert layer.base is not None
    found: np.ndarray = layer.schedule.at(length, length).inverse / formulas.plain(layer.base, layer.rotary_dim)
    return found


@pytest.mark.parametrize(
    ("more", "width"),
    [
        ({}, 32),
        ({"rope_scaling": {"rope_type": "linear", "factor": 2.0}}, 8),
        ({"rope_scaling": YARN}, 8),
        ({"rope_scaling": {"rope_type": "dynamic", "factor": 2.0}}, 8),
    ],
)
def test_llama_takes_a_partial_factor_only_where_something_scales(more: dict[str, Any], width: int) -> None:
    config = {**LLAMA, "partial_rotary_factor": 0.25, **more}
    assert reading_of(config).layers[0].rotary_dim == width
    assert difference(config, reading_of(config), NOISE) == ""


@pytest.mark.parametrize(
    ("more", "rule", "first", "last"),
    [
        ({"rope_scaling": {"factor": 2.0}}, "default", 1.0, 1.0),
        ({"rope_scaling": {"rope_type": "linear", "factor": 0.5}}, "linear", 2.0, 2.0),
        ({"rope_scaling": {"type": "yarn", "rope_type": "linear", "factor": 2.0}}, "linear", 0.5, 0.5),
        ({"rope_scaling": {**YARN, "attn_factor": 3.0}}, "yarn", 1.0, 0.25),
        (
            {
                "rope_scaling": {"type": "linear", "factor": 2.0},
                "rope_parameters": {"rope_type": "linear", "factor": 5.0},
            },
            "linear",
            0.5,
            0.5,
        ),
    ],
    ids=["factor without a type", "factor below 1", "rope_type beats type", "attn_factor", "rope_scaling comes first"],
)
def test_traps_of_a_block(more: dict[str, Any], rule: str, first: float, last: float) -> None:
    reading = reading_of({**LLAMA, **more})
    assert reading.layers[0].rule == rule
    assert ratios(reading)[[0, -1]] == pytest.approx([first, last])
    assert difference({**LLAMA, **more}, reading, NOISE) == ""


@pytest.mark.parametrize("kind", ["su", "ntk", "mrope", "deepseek_yarn", "Llama3"])
def test_an_unknown_kind_is_a_key_error(kind: str) -> None:
    config = {**LLAMA, "rope_scaling": {"rope_type": kind, "factor": 2.0}}
    assert "KeyError" in reading_of(config).refusal
    with pytest.raises(KeyError, match=kind):
        RealRotary(config).at(1)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"rope_scaling": {"rope_type": "linear", "factor": "2.0"}}, "no number"),
        ({"rope_scaling": {"rope_type": "dynamic", "alpha": 1000.0}}, "lacks factor"),
        ({"rope_scaling": {"rope_type": "linear"}}, "lacks factor"),
        ({"rope_theta": None, "rope_scaling": YARN}, "rope_theta is null"),
        ({"original_max_position_embeddings": None, "rope_scaling": YARN}, "is null"),
        ({"rope_scaling": "yarn"}, "no mapping"),
    ],
)
def test_what_ends_building_the_model(more: dict[str, Any], said: str) -> None:
    assert said in reading_of({**LLAMA, **more}).refusal
    assert difference({**LLAMA, **more}, reading_of({**LLAMA, **more}), NOISE) == ""


def test_the_original_length_beside_the_block_wins_once_the_module_is_built() -> None:
    config = {**LLAMA, "original_max_position_embeddings": 512, "rope_scaling": YARN}
    reading = reading_of(config)
    assert ("original length", 512, "original_max_position_embeddings") in [
        (item.what, item.value, item.key) for item in reading.layers[0].used
    ]
    assert "rope_scaling.original_max_position_embeddings" in [item.key for item in reading.ignored]
    assert difference(config, reading, NOISE) == ""


def test_phi3_has_an_original_length_of_its_own_that_beats_the_block() -> None:
    lists = {"short_factor": [1.0] * 16, "long_factor": [4.0] * 16, "original_max_position_embeddings": 1024}
    config = {**LLAMA, "model_type": "phi3", "max_position_embeddings": 8192, "rope_scaling": {"type": "su", **lists}}
    schedule = reading_of(config).layers[0].schedule
    assert schedule.at(4096, 4096).inverse[0] == 1
    assert schedule.at(4097, 4097).inverse[0] == pytest.approx(0.25)
    assert difference(config, reading_of(config), NOISE) == ""


def test_a_block_for_each_layer_type_is_silently_plain_in_llama() -> None:
    config = {**LLAMA, "rope_parameters": {"full_attention": {**YARN, "rope_theta": 5e5}}}
    reading = reading_of(config)
    assert (reading.layers[0].rule, reading.layers[0].base) == ("default", 10_000)
    assert "rope_parameters.full_attention.factor" in [item.key for item in reading.ignored]
    assert difference(config, reading, NOISE) == ""


GEMMA = {
    "model_type": "gemma3_text",
    "hidden_size": 64,
    "num_attention_heads": 2,
    "head_dim": 32,
    "num_hidden_layers": 6,
    "max_position_embeddings": 8192,
}


def test_gemma3_loses_a_scaling_that_says_type() -> None:
    """The class starts its block with rope_type "default", which beats `type` of the old spelling."""
    plain, scaled = ({**GEMMA, "rope_scaling": {key: "linear", "factor": 8.0}} for key in ("type", "rope_type"))
    assert ratios(reading_of(plain))[0] == 1
    assert ratios(reading_of(scaled))[0] == pytest.approx(1 / 8)
    for config in (plain, scaled):
        assert difference(config, reading_of(config), NOISE) == ""


def test_truncate_within_the_block_of_a_layer_type_is_not_read() -> None:
    block = {**YARN, "rope_theta": 1e6}
    blocks = [{"full_attention": {**block, "truncate": value}} for value in (True, False)]
    first, second = (ratios(reading_of({**GEMMA, "rope_parameters": each})) for each in blocks)
    assert np.array_equal(first, second)
    beside = {**GEMMA, "rope_parameters": {"full_attention": block, "truncate": False}}
    assert not np.array_equal(first, ratios(reading_of(beside)))
    for config in ({**GEMMA, "rope_parameters": blocks[1]}, beside):
        assert difference(config, reading_of(config), NOISE) == ""


def test_mixtral_without_head_dim_cannot_be_built_with_yarn() -> None:
    config = {**LLAMA, "model_type": "mixtral", "rope_scaling": YARN}
    assert "head_dim" in reading_of(config).refusal
    assert difference(config, reading_of(config), NOISE) == ""
    assert reading_of({**config, "head_dim": 32}).serves


@pytest.mark.parametrize("key", ["rope_scaling", "rope_parameters"])
@pytest.mark.parametrize("spelling", ["type", "rope_type"])
def test_phi_3_with_su_needs_the_original_length_in_the_block(spelling: str, key: str) -> None:
    """The class puts it there for kinds that it knows, and renames `su` after that; what goes through it stops too."""
    sizes = {"model_type": "phi3", "hidden_size": 128, "num_attention_heads": 4, "pad_token_id": 0, "rope_theta": 1e4}
    block = {spelling: "su", "short_factor": [1.0] * 16, "long_factor": [2.0] * 16}
    beside = {**sizes, "max_position_embeddings": 256, "original_max_position_embeddings": 64, key: block}
    with pytest.raises(KeyError, match="original_max_position_embeddings"):
        real_config(beside)
    for stack in ("hf5", "vllm", "sglang", "ct2", "lmdeploy", "ort-genai"):
        reading = registry.get(stack)().reading(Given("made", config=beside))
        assert "original_max_position_embeddings" in reading.refusal, stack
    assert registry.get("llama.cpp")().reading(Given("made", config=beside)).serves  # it reads the file itself then
    within = {**beside, key: {**block, "original_max_position_embeddings": 64}}
    assert difference(within, registry.get("hf5")().reading(Given("made", config=within)), 2e-6) == ""


@pytest.mark.parametrize("more", [{"head_dim": 128}, {"head_dim": 128, "qk_rope_head_dim": 32}, {}])
def test_deepseek_2_turns_its_rotary_part_whatever_head_dim_says(more: dict[str, Any]) -> None:
    config = {"model_type": "deepseek_v2", "hidden_size": 128, "num_attention_heads": 4, **more}
    assert difference(config, reading_of(config), NOISE) == ""
    assert reading_of(config).layers[0].rotary_dim == more.get("qk_rope_head_dim", 64)


@pytest.mark.parametrize(("count", "full"), [(5, False), (6, True)])
def test_gemma_3_has_full_layers_from_six_on(count: int, full: bool) -> None:
    """A kind that no layer is of is never built, so that nothing ends on what its block says."""
    config = {"model_type": "gemma3_text", "hidden_size": 128, "num_attention_heads": 4, "num_hidden_layers": count}
    for block in ({}, {"rope_scaling": {"rope_type": "su", "factor": 8.0}}):
        reading = reading_of({**config, **block})
        assert difference({**config, **block}, reading, NOISE) == ""
        assert reading.serves == (not full or not block)
        assert not reading.serves or (reading.layer("full_attention") is not None) == full
