"""Sizes that no model has are not believed: nothing is built or allocated on a config's word alone."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from gnomon.adapters import load_subject
from gnomon.adapters.checkpoints.shortened import shortened
from gnomon.adapters.families import claims_of
from gnomon.adapters.plausible import require_plausible
from gnomon.adapters.subject import MissingEvidence, Subject
from tests.helpers.claimed import one_claim
from tests.helpers.tiny_gguf import llama_metadata, llama_tensors, write_gguf
from tests.helpers.tiny_transformers import edit_config, save_tiny, tiny_fields

WILD: list[dict[str, Any]] = [
    {"hidden_size": 10**12},
    {"head_dim": 10**9},
    {"num_hidden_layers": 10**9},
    {"num_hidden_layers": 20_000},
    {"vocab_size": 10**12},
    {"num_attention_heads": 10**6},
    {"text_config": {"model_type": "llama", "hidden_size": 10**400}},
]


def config_subject(folder: Path, fields: dict[str, Any]) -> Subject:
    (folder / "config.json").write_text(json.dumps(fields))
    return load_subject(folder / "config.json")


@pytest.mark.parametrize("fields", WILD)
def test_a_size_that_no_model_has_is_named_before_anything_is_built(tmp_path: Path, fields: dict[str, Any]) -> None:
    subject = config_subject(tmp_path, tiny_fields("llama") | fields)
    key = next(iter((fields.get("text_config", {}) and ["hidden_size"]) or fields))
    with pytest.raises(MissingEvidence, match=rf"the config's (text_config\.)?{key} of .* is more than any model has"):
        _ = subject.module


def test_a_folder_with_a_wild_config_is_not_loaded_either(tmp_path: Path) -> None:
    edit_config(save_tiny(tmp_path / "m", "llama"), num_hidden_layers=10**9)
    with pytest.raises(MissingEvidence, match="num_hidden_layers of 1,000,000,000 is more than any model has"):
        _ = load_subject(tmp_path / "m").module


def test_a_gguf_file_with_wild_numbers_claims_no_width_of_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GNOMON_CACHE", str(tmp_path / "cache"))
    metadata = llama_metadata() | {"rope.dimension_count": 2**31 - 2, "block_count": 10**9}
    subject = load_subject(write_gguf(tmp_path / "wild.gguf", "llama", metadata, llama_tensors()))
    assert subject.claims[0].options["rotary_dim"] == 16
    with pytest.raises(MissingEvidence, match="num_hidden_layers of 1,000,000,000"):
        _ = subject.module


def test_every_default_of_transformers_is_plausible() -> None:
    from transformers import CONFIG_MAPPING

    for name in ("llama", "gpt2", "deepseek_v3", "qwen2_moe", "gemma3", "t5", "llama4", "whisper", "nemotron_h"):
        require_plausible(CONFIG_MAPPING[name]().to_dict())


@pytest.mark.parametrize("written", ["x", -1, 10**9, 10**400, [1], {}, True])
def test_a_width_that_is_no_number_of_lanes_is_not_claimed(written: Any) -> None:
    head = {"n_embd": 48, "n_head": 4}
    for fields in (
        {"model_type": "gptj", **head, "rotary_dim": written},
        {"model_type": "gpt_neox", "hidden_size": 48, "num_attention_heads": 4, "rotary_pct": written},
        {"model_type": "llama", "head_dim": written},
    ):
        options = one_claim(fields).options
        assert type(options.get("rotary_dim", 1)) is int
        assert abs(options.get("rotary_dim", 1)) <= 65_536
        assert ("head_dim" in options) == ("rotary_dim" in options)


@pytest.mark.parametrize("share", [float("nan"), float("inf"), 1e400, -1e308])
def test_a_share_that_is_no_share_is_not_claimed(share: float) -> None:
    fields = {"model_type": "gpt_neox", "hidden_size": 48, "num_attention_heads": 4, "rotary_pct": share}
    assert "rotary_dim" not in one_claim(fields).options


@pytest.mark.parametrize("heads", [0, -1, None, [4], "x", 10**6, 10**400])
def test_heads_that_cannot_be_counted_are_not_claimed(heads: Any) -> None:
    assert "num_heads" not in one_claim({"model_type": "bloom", "n_head": heads}).options
    assert "head_dim" not in one_claim({"model_type": "llama", "hidden_size": 48, "num_attention_heads": heads}).options
    assert one_claim({"model_type": "mpt", "d_model": 64, "n_heads": heads}).kind == "alibi"


def test_layers_without_rotation_are_listed_for_as_many_layers_as_a_model_can_have() -> None:
    fields = {"model_type": "smollm3", "hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 10**9}
    assert [c.kind for c in claims_of(fields)] == ["rotary"]


def test_a_large_model_is_built_with_its_first_layers_and_heads_of_the_same_width(tmp_path: Path) -> None:
    large = {"hidden_size": 256, "num_attention_heads": 8, "intermediate_size": 64, "num_hidden_layers": 600}
    fields = (
        tiny_fields("llama") | large | {"num_key_value_heads": 8, "vocab_size": 2_000_000, "bos_token_id": 1_900_000}
    )
    subject = config_subject(tmp_path, fields)
    module: Any = subject.module
    assert len(module.layers) == 2
    assert module.config.head_dim == subject.claims[0].options["head_dim"] == 32
    assert isinstance(module, nn.Module)
    with torch.no_grad():
        assert module(**subject.example)[0].shape == (2, 12, 4 * 32)
    assert subject.config["num_hidden_layers"] == 600


def test_a_small_model_is_built_whole(tmp_path: Path) -> None:
    module: Any = config_subject(tmp_path, tiny_fields("llama") | {"num_hidden_layers": 5}).module
    assert len(module.layers) == 5


def test_shortening_keeps_a_layer_of_each_kind_and_cuts_what_lists_layers() -> None:
    kinds = ["sliding_attention"] * 5 + ["full_attention"]
    inner = {"num_hidden_layers": 12, "layer_types": kinds * 2, "eos_token_id": [90_000], "pad_token_id": None}
    short = shortened({"model_type": "gemma3", "text_config": {**inner, "vocab_size": 99_999}, "hidden_size": 7})
    assert short["text_config"]["num_hidden_layers"] == 6
    assert short["text_config"]["layer_types"] == kinds
    assert (short["text_config"]["vocab_size"], short["text_config"]["eos_token_id"]) == (1024, [0])
    assert short["text_config"]["pad_token_id"] is None
    assert short["hidden_size"] == 7
    assert shortened({"n_layer": 9, "no_rope_layer_interval": 4})["n_layer"] == 4
    assert shortened({"n_layer": 1, "vocab_size": 30}) == {"n_layer": 1, "vocab_size": 30}
