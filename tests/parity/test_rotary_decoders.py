"""Decoders of transformers with their rotation replaced by gnomon's give the same hidden states.

The encoding comes from the config alone, layer by layer. Each test also turns by wrong angles, to see that it can fail.
"""

from typing import Any
from unittest import mock

import pytest
import torch
from torch import Tensor, nn

from gnomon.encodings import PositionEncoding, Rotary, from_hf_config
from gnomon.encodings.frequencies import by_parts
from tests.helpers.padded import PLACES, assert_ours, drawn, hidden
from tests.helpers.tiny_transformers import LENGTH, tiny_fields
from tests.helpers.transformers_rotation import Turn, by, turned

ALL_HEADS = {"num_key_value_heads": 4}
BY_SECTION = {"rope_theta": 500.0, "original_max_position_embeddings": 16}
DIVISORS = {"short_factor": [1.0, 1.5, 2.0, 3.0], "long_factor": [1.0, 2.0, 6.0, 11.0]}
ROPES = {
    "default": {"rope_type": "default", "rope_theta": 500.0},
    "linear": {"rope_type": "linear", "rope_theta": 500.0, "factor": 3.0},
    "dynamic": {"rope_type": "dynamic", "rope_theta": 500.0, "factor": 3.0},
    "yarn": {"rope_type": "yarn", **BY_SECTION, "factor": 4.0, "beta_fast": 8.0},
    "yarn, not truncated": {"rope_type": "yarn", **BY_SECTION, "factor": 4.0, "truncate": False},
    "yarn, mscale": {"rope_type": "yarn", **BY_SECTION, "factor": 4.0, "mscale": 0.7, "mscale_all_dim": 1.1},
    "longrope, long": {"rope_type": "longrope", **BY_SECTION, **DIVISORS},
    "longrope, short": {"rope_type": "longrope", **BY_SECTION, **DIVISORS, "original_max_position_embeddings": 32},
    "llama3": {"rope_type": "llama3", **BY_SECTION, "factor": 4.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0},
    "proportional": {"rope_type": "proportional", "rope_theta": 500.0, "partial_rotary_factor": 0.5},
}
FAMILIES: dict[str, dict[str, Any]] = {
    **{f"llama, {name}": {"model_type": "llama", "rope_parameters": rope} for name, rope in ROPES.items()},
    "llama, dynamic and longer": {
        "model_type": "llama",
        "rope_parameters": ROPES["dynamic"],
        "max_position_embeddings": 17,
    },
    "phi3": {"model_type": "phi3"},
    "phi3, longrope": {
        "model_type": "phi3",
        "rope_parameters": {"rope_type": "longrope", **BY_SECTION, **DIVISORS},
        "original_max_position_embeddings": 16,
    },
    **{
        name: {"model_type": name}
        for name in (
            *("mistral", "mixtral", "qwen2", "qwen3", "gemma", "gemma2", "gemma3_text", "gemma4_text", "phi"),
            *("gpt_neox", "gptj", "codegen", "glm", "glm4", "cohere", "cohere2", "stablelm", "ernie4_5", "seed_oss"),
            *("gpt_oss", "smollm3", "llama4_text", "olmo2", "granite", "nemotron", "persimmon", "starcoder2"),
        )
    },
    "helium": {"model_type": "helium", "head_dim": 8},
    "gemma3_text, both kinds": {"model_type": "gemma3_text", "layer_types": ["sliding_attention", "full_attention"]},
    "cohere2, both kinds": {"model_type": "cohere2", "layer_types": ["full_attention", "sliding_attention"]},
    "smollm3, a layer without": {"model_type": "smollm3", "no_rope_layers": [0, 1]},
}


def built(options: dict[str, Any]) -> Any:
    return drawn({"num_key_value_heads": 2, **options})


def at(model: nn.Module, places: Tensor = PLACES) -> Tensor:
    return hidden(model, position_ids=places, use_cache=False)


def by_gnomon(model: nn.Module, turn: Turn) -> Tensor:
    with turned(model, turn):
        return at(model)


def of_layers(config: Any) -> list[PositionEncoding]:
    """Each layer's encoding, at the length that transformers takes for the whole batch."""
    longest = int(PLACES.max()) + 1
    return [from_hf_config(config, layer).at_length(longest) for layer in range(config.num_hidden_layers)]


@pytest.mark.parametrize("options", FAMILIES.values(), ids=FAMILIES.keys())
def test_gnomons_rotation_gives_the_same_hidden_states(options: dict[str, Any]) -> None:
    model = built(options)
    encodings = of_layers(model.config)
    expected = at(model)
    ours, wrong = (by_gnomon(model, by(encodings, places)) for places in (PLACES, 2 * PLACES))
    assert_ours(expected, ours, wrong)


@pytest.mark.parametrize(
    ("model_type", "interleaved"),
    [("deepseek_v2", True), ("deepseek_v3", True), ("deepseek_v3", False)],  # version 2 has interleaved pairs only
)
def test_deepseek_turns_the_last_part_of_each_head(model_type: str, interleaved: bool) -> None:
    """The encoding is that of the rotated part. DeepSeek V3 of transformers writes its pairs out as halves, which no
    score can tell: they are put back into pairs here."""
    rope = {"rope_type": "yarn", **BY_SECTION, "factor": 4.0, "mscale": 0.7, "mscale_all_dim": 1.1}
    model = built({"model_type": model_type, "rope_parameters": rope, "rope_interleave": interleaved} | ALL_HEADS)
    encodings = of_layers(model.config)
    assert {encoding.head_dim for encoding in encodings if isinstance(encoding, Rotary)} == {6}

    def latent(places: Tensor) -> Turn:
        turn = by(encodings, places)

        def parts(module: nn.Module, query: Tensor, key: Tensor) -> tuple[Tensor, Tensor]:
            paired = [x[..., -6:] for x in (query, key)]
            if model_type == "deepseek_v3" and interleaved:
                paired = [x.unflatten(-1, (2, 3)).transpose(-1, -2).flatten(-2) for x in paired]
            both = zip((query, key), turn(module, *paired), strict=True)
            whole = [torch.cat((x[..., :-6], rotated), dim=-1) for x, rotated in both]
            return whole[0], whole[1]

        return parts

    expected, ours = at(model), by_gnomon(model, latent(PLACES))
    assert_ours(expected, ours, by_gnomon(model, latent(2 * PLACES)))


@pytest.mark.parametrize("rope", ["default", "linear", "yarn"])
@pytest.mark.parametrize("shape", [{}, {"multi_query": False}, {"new_decoder_architecture": True, "num_kv_heads": 2}])
def test_falcon_rotates(shape: dict[str, Any], rope: str) -> None:
    from transformers.models.falcon import modeling_falcon

    model = built({"model_type": "falcon", "rope_parameters": ROPES[rope], **shape})
    encoding, expected = from_hf_config(model.config), at(model)

    def ours(places: Tensor) -> Tensor:
        def turn(query: Tensor, key: Tensor, cos: Tensor, sin: Tensor) -> tuple[Tensor, Tensor]:
            return encoding.rotate_query(query, places), encoding.rotate_key(key, places)

        with mock.patch.object(modeling_falcon, "apply_rotary_pos_emb", turn):
            return at(model)

    assert_ours(expected, ours(PLACES), ours(2 * PLACES))


def test_truncate_of_one_kind_of_layer_is_read_by_gnomon_and_not_by_transformers() -> None:
    """modeling_rope_utils 5.24 reads it from the outer mapping, where a config with kinds of layers has none."""
    wide = {"rope_type": "yarn", "rope_theta": 50.0, "original_max_position_embeddings": 64}
    wide |= {"factor": 4.0, "beta_fast": 8.0}
    kinds = {
        kind: {"rope_parameters": {"sliding_attention": {"rope_type": "default"}, "full_attention": {**wide, **more}}}
        for kind, more in (("cut", {"truncate": True}), ("whole", {"truncate": False}))
    }
    layers = {"model_type": "gemma3_text", "head_dim": 8, "layer_types": ["sliding_attention", "full_attention"]}
    tables = {kind: built({**layers, **rope}).rotary_emb.full_attention_inv_freq for kind, rope in kinds.items()}
    assert torch.equal(tables["cut"], tables["whole"])
    for kind, truncate in (("cut", True), ("whole", False)):
        encoding = from_hf_config({**tiny_fields("gemma3_text"), **layers, **kinds[kind]}, layer=1)
        assert isinstance(encoding, Rotary)
        expected = [by_parts.reference(i, 8, 4.0, 64, 50.0, 8.0, 1.0, truncate) for i in range(4)]
        assert list(encoding.inverse_frequencies) == pytest.approx(expected, rel=1e-12)
        assert (list(encoding.inverse_frequencies) == pytest.approx(tables[kind].tolist(), rel=1e-5)) is truncate


def test_the_places_reach_past_the_trained_length_of_the_scaled_ones() -> None:
    assert int(PLACES.min()) > 0
    assert 17 < int(PLACES.max()) < LENGTH
