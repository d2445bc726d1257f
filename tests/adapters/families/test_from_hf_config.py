"""One config to one encoding: which layer, stack and part is meant, and what is said when that is not clear.

The numbers of each family are compared with transformers in tests/parity.
"""

import contextlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.adapters.families import BY_MODEL_TYPE, claims_of
from gnomon.adapters.families.layer_kinds import OneInEvery
from gnomon.encodings import (
    ALiBi,
    Learned,
    LogCPB,
    NoPE,
    PositionEncoding,
    Rotary,
    Sinusoidal,
    T5Bias,
    WindowBias,
    from_hf_config,
)
from gnomon.encodings.frequencies import Plain, Proportional
from gnomon.errors import GnomonError, UnsupportedTargetError
from tests.adapters.families.test_families import KEYS, VALUES
from tests.helpers.tiny_transformers import tiny_fields, tiny_model

LLAMA = {"model_type": "llama", "hidden_size": 64, "num_attention_heads": 4, "rope_theta": 5e5}


def base(encoding: PositionEncoding) -> float:
    assert isinstance(encoding, Rotary)
    return float(encoding.frequencies.options["base"])


@pytest.mark.parametrize("model_type", sorted(BY_MODEL_TYPE))
def test_every_layer_of_every_family_has_an_encoding_by_its_config(model_type: str) -> None:
    """As transformers writes it back, and as a config.json of the stated keys alone."""
    written = tiny_model(model_type).config.to_dict()  # type: ignore[operator, union-attr]
    stacks: list[Any] = [None]
    if any(claim.where.startswith("decoder.") for claim in claims_of(written)):
        stacks = ["encoder", "decoder"]
    for config in (written, tiny_fields(model_type)):
        for stack in stacks:
            for layer in (0, 1) if model_type not in ("whisper", "bart", "mbart", "plbart", "m2m_100") else (0,):
                made = from_hf_config(config, layer, stack=stack)
                assert made.uses_position or model_type in ("smollm3", "cohere2", "nemotron_h")


def test_a_config_may_be_an_object_a_dict_a_file_or_a_folder(tmp_path: Path) -> None:
    from transformers import LlamaConfig

    path = tmp_path / "config.json"
    path.write_text(json.dumps(LLAMA))
    given: list[Any] = [LLAMA, path, str(path), tmp_path, LlamaConfig(**{**LLAMA, "num_hidden_layers": 2})]
    assert {from_hf_config(config).to_json() for config in given} == {
        Rotary(16, frequencies=Plain(5e5)).to_json(),
    }


def test_layers_of_two_kinds_have_two_encodings() -> None:
    gemma = {"model_type": "gemma3_text", "head_dim": 8, "num_hidden_layers": 12}
    assert [base(from_hf_config(gemma, layer)) for layer in (4, 5, 6, 11)] == [1e4, 1e6, 1e4, 1e6]
    every_third = {**gemma, "sliding_window_pattern": 3}
    assert [base(from_hf_config(every_third, layer)) for layer in (2, 4, 5)] == [1e6, 1e4, 1e6]
    listed = {**gemma, "layer_types": ["full_attention", *["sliding_attention"] * 11]}
    assert [base(from_hf_config(listed, layer)) for layer in (0, 5)] == [1e6, 1e4]


def test_the_last_layer_of_gemma_4_is_full_and_its_heads_are_wider() -> None:
    gemma = {"model_type": "gemma4_text", "num_hidden_layers": 8}
    layers = [from_hf_config(gemma, layer) for layer in range(8)]
    assert [made.options["head_dim"] for made in layers] == [256, 256, 256, 256, 256, 512, 256, 512]
    assert isinstance(layers[5], Rotary)
    assert layers[5].frequencies == Proportional(0.25, base=1e6)


@pytest.mark.parametrize(
    ("config", "bare"),
    [
        ({"model_type": "smollm3", "no_rope_layers": [1, 0, 1, 1, 1, 1, 1, 1]}, {1}),
        ({"model_type": "smollm3"}, {3, 7}),
        ({"model_type": "llama4_text", "no_rope_layer_interval": 3}, {2, 5}),
        ({"model_type": "cohere2"}, {3, 7}),
        ({"model_type": "cohere2", "layer_types": ["full_attention"] * 2 + ["sliding_attention"] * 6}, {0, 1}),
    ],
)
def test_layers_without_positions(config: dict[str, Any], bare: set[int]) -> None:
    sizes = {"hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 8, "no_rope_layers": None}
    made = [from_hf_config({**sizes, **config}, layer) for layer in range(8)]
    assert {layer for layer, encoding in enumerate(made) if isinstance(encoding, NoPE)} == bare
    with pytest.raises(GnomonError, match=r"rotary in .*; nope in .*Give the index of a layer"):
        from_hf_config({**sizes, **config})


def test_all_layers_that_agree_need_no_index() -> None:
    same = {"full_attention": {"rope_theta": 7.0}, "sliding_attention": {"rope_theta": 7.0}}
    assert base(from_hf_config({"model_type": "gemma3_text", "rope_parameters": same})) == 7.0


def test_encoder_and_decoder_differ() -> None:
    config = tiny_fields("t5")
    both, back = (from_hf_config(config, stack=stack) for stack in ("encoder", "decoder"))
    assert isinstance(both, T5Bias)
    assert isinstance(back, T5Bias)
    assert (both.direction, back.direction) == ("both", "causal")
    with pytest.raises(GnomonError, match="Give stack='encoder' or stack='decoder'"):
        from_hf_config(config, layer=0)
    whisper = tiny_fields("whisper")
    assert isinstance(from_hf_config(whisper, stack="encoder"), Sinusoidal)
    assert isinstance(from_hf_config(whisper, stack="decoder"), Learned)
    deeper = {**config, "num_decoder_layers": 5}
    assert from_hf_config(deeper, layer=4, stack="decoder").to_json() == back.to_json()
    with pytest.raises(GnomonError, match="layers 0 to 1"):
        from_hf_config(deeper, layer=4, stack="encoder")


def test_a_table_of_each_stack_of_the_same_size_is_one_encoding() -> None:
    assert isinstance(from_hf_config(tiny_fields("bart")), Learned)


def test_what_is_added_to_the_embeddings_and_what_acts_in_attention() -> None:
    mpnet = tiny_fields("mpnet")
    with pytest.raises(GnomonError, match=r"learned in embeddings; t5 in .*Give part='embedding' or part='attention'"):
        from_hf_config(mpnet)
    assert isinstance(from_hf_config(mpnet, part="embedding"), Learned)
    assert isinstance(from_hf_config(mpnet, part="attention"), T5Bias)
    assert isinstance(from_hf_config(mpnet, layer=1), T5Bias)
    assert isinstance(from_hf_config(tiny_fields("bert"), layer=1), Learned)
    with pytest.raises(GnomonError, match="no encoding for layer=1, part='attention'"):
        from_hf_config(tiny_fields("bert"), layer=1, part="attention")


def test_a_model_of_text_and_images() -> None:
    config = {"model_type": "qwen2_vl", **tiny_fields("qwen2_vl")}
    assert from_hf_config(config).axes == 3
    assert from_hf_config(config, stack="vision").axes == 2
    old = {**tiny_fields("qwen2_vl_text"), "model_type": "qwen2_vl", "vision_config": {"model_type": "qwen2_vl"}}
    old["vision_config"] = {**old["vision_config"], "embed_dim": 32, "num_heads": 2}
    assert from_hf_config(old, stack="vision").options["head_dim"] == 16
    unknown = {"model_type": "llava", "text_config": LLAMA, "vision_config": {"model_type": "martian"}}
    assert base(from_hf_config(unknown)) == 5e5
    with pytest.raises(UnsupportedTargetError, match="'martian'"):
        from_hf_config(unknown, stack="vision")


def test_stages_of_swin_count_their_layers_through() -> None:
    swin = {"model_type": "swin", "depths": [2, 6], "num_heads": [3, 5], "window_size": 7, "num_layers": 2}
    made = [from_hf_config(swin, layer) for layer in (1, 2, 7)]
    assert all(isinstance(encoding, WindowBias) for encoding in made)
    assert [encoding.options["num_heads"] for encoding in made] == [3, 5, 5]
    with pytest.raises(GnomonError, match="layers 0 to 7"):
        from_hf_config(swin, 8)
    second = {**swin, "model_type": "swinv2", "image_size": 32, "patch_size": 4}
    assert [from_hf_config(second, layer).grid for layer in (1, 2)] == [(7, 7), (4, 4)]
    assert isinstance(from_hf_config(second, 1), LogCPB)


def test_an_alibi_of_another_slope_or_scale() -> None:
    mpt = {"model_type": "mpt", "n_heads": 4, "attn_config": {"alibi": True, "alibi_bias_max": 16}}
    falcon = {"model_type": "falcon", "alibi": True, "hidden_size": 64, "num_attention_heads": 4}
    made = [from_hf_config(config) for config in (mpt, falcon)]
    assert [encoding.to_json() for encoding in made] == [
        ALiBi(4, alibi_bias_max=16).to_json(),
        ALiBi(4, logit_scale=0.25).to_json(),
    ]


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("config", "options", "said"),
    [
        ({"model_type": "martian"}, {}, "model_type 'martian' is not one gnomon knows"),
        ({}, {}, "has no model_type"),
        (LLAMA, {"layer": 2}, "does not say how many layers"),
        ({**LLAMA, "num_hidden_layers": 2}, {"layer": 2}, r"layers 0 to 1 \(num_hidden_layers\), got layer=2"),
        ({**LLAMA, "num_hidden_layers": 2}, {"layer": -1}, "got layer=-1"),
        (LLAMA, {"layer": True}, "A layer is an index"),
        (LLAMA, {"stack": "encoder"}, "one stack, so stack='encoder' names none"),
        (LLAMA, {"stack": "left"}, "stack is one of encoder, decoder, vision, got 'left'"),
        (LLAMA, {"part": "mlp"}, "part is one of embedding, attention, got 'mlp'"),
        (LLAMA, {"part": "embedding"}, "no encoding for part='embedding'"),
        ({"model_type": "llama"}, {}, "does not say what head_dim of its rotary encoding is"),
        ({**LLAMA, "rope_scaling": {"rope_type": "ntk_alpha", "alpha": 2}}, {}, "No frequencies is called 'ntk_alpha'"),
        ({**LLAMA, "rope_scaling": {"rope_type": "linear", "factor": "much"}}, {}, "cannot be built"),
        (
            {"model_type": "bert", "position_embedding_type": "wheel"},
            {},
            "has wheel in .*, which gnomon does not build",
        ),
        (
            {"model_type": "gemma3_text", "num_hidden_layers": 2, "layer_types": ["full_attention"]},
            {"layer": 1},
            "which",
        ),
        (7, {}, "A config is a transformers config, a dict, or the path"),
        ("no/such/folder", {}, "There is no file"),
    ],
)
def test_what_cannot_be_answered_is_said_in_one_sentence(config: Any, options: dict[str, Any], said: str) -> None:
    with pytest.raises(GnomonError, match=said):
        from_hf_config(config, **options)


def test_the_kind_of_a_layer_is_unknown_where_the_config_and_its_family_are_silent() -> None:
    assert OneInEvery(3, ("every",), first=True).kind(_reader({"every": "x"}), 0, 9) is None


def _reader(config: Mapping[str, Any]) -> Any:
    from gnomon.adapters.families.config_reader import ConfigReader

    return ConfigReader(config)


@settings(max_examples=60, deadline=None)
@given(
    model_type=st.sampled_from(sorted(BY_MODEL_TYPE)),
    fields=st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=6),
    layer=st.none() | st.integers(-2, 9),
)
def test_any_config_gives_an_encoding_or_one_clear_error(
    model_type: str, fields: dict[str, Any], layer: int | None
) -> None:
    with contextlib.suppress(GnomonError):
        assert isinstance(from_hf_config({"model_type": model_type, **fields}, layer), PositionEncoding)
