"""What is read of a checkpoint: encoding, base, width, trained length, direction, and nothing is run."""

import json
from pathlib import Path
from typing import Any

import pytest

from gnomon.advisor import advise
from gnomon.advisor.checkpoint import family, read_checkpoint
from gnomon.advisor.description import Checkpoint
from gnomon.errors import GnomonError
from tests.advisor.configs import BERT, BLOOM, DINO, GEMMA, LLAMA_4K, QWEN_YARN, T5, VIT, WHISPER
from tests.helpers.tiny_gguf import llama_metadata, llama_tensors, write_gguf


def read(config: dict[str, Any], folder: Path) -> Checkpoint:
    path = folder / "config.json"
    path.write_text(json.dumps(config), encoding="utf-8")
    return read_checkpoint(path)


def test_a_llama_config(tmp_path: Path) -> None:
    found = read(LLAMA_4K, tmp_path)
    assert (found.encoding, found.trained, found.causal) == ("rotary", 4096, True)
    assert found.options["frequencies"] == {"kind": "plain", "base": 10000.0}
    assert found.sizes.known() == {"dim": 4096, "num_heads": 32, "head_dim": 128, "num_layers": 32, "key_heads": 8}


def test_a_folder_is_read_like_its_config(tmp_path: Path) -> None:
    alone = read(BERT, tmp_path)
    assert read_checkpoint(tmp_path).options == alone.options == {"dim": 768, "max_length": 512, "padding_offset": 0}
    assert (alone.causal, alone.trained) == (False, 512)


def test_layers_of_full_attention_count_where_others_have_a_window(tmp_path: Path) -> None:
    assert read(GEMMA, tmp_path).options["frequencies"] == {"kind": "plain", "base": 1e6}


def test_an_encoder_with_a_decoder_has_no_one_direction(tmp_path: Path) -> None:
    found = read(T5, tmp_path)
    assert (found.causal, found.options["direction"], found.trained) == (None, "both", None)


def test_a_scaled_model_reaches_what_its_scaling_gives_even_where_the_config_states_less(tmp_path: Path) -> None:
    assert read(QWEN_YARN, tmp_path).trained == 131072
    assert read({**QWEN_YARN, "max_position_embeddings": 32768}, tmp_path).trained == 131072  # 4 x 32768


@pytest.mark.parametrize(
    ("config", "names"),
    [({**VIT, "model_type": "dinov2"}, ["interpolate"]), (DINO, ["keep"])],
)
def test_a_model_of_images_is_not_switched_to_positions_on_a_line(
    config: dict[str, Any], names: list[str], tmp_path: Path
) -> None:
    read(config, tmp_path)
    advice = advise(
        checkpoint=tmp_path / "config.json", trained=None if "dinov2" in config.values() else 196, target=577
    )
    assert [it.name for it in advice.recommendations] == names


def test_heads_are_read_where_the_encoding_does_not_need_them(tmp_path: Path) -> None:
    config = {"model_type": "gpt2", "n_embd": 96, "n_head": 2, "n_layer": 3, "n_positions": 64}
    found = read(config, tmp_path)
    assert (found.sizes.num_heads, found.sizes.num_layers, found.trained) == (2, 3, 64)
    advice = advise(checkpoint=tmp_path / "config.json", target=1024)
    assert advice.facts["head_dim"] == 48  # 96 / 2, not the usual 64
    assert advice.best.options["head_dim"] == 48


def test_a_length_is_read_where_it_does_not_follow_from_the_encoding(tmp_path: Path) -> None:
    assert read(BLOOM, tmp_path).trained is None
    assert read({**BLOOM, "seq_length": 2048}, tmp_path).trained == 2048
    assert read({**T5, "n_positions": 512}, tmp_path).trained == 512


@pytest.mark.parametrize(("config", "axes"), [(VIT, 2), (DINO, 2), (BERT, 1), (LLAMA_4K, 1)])
def test_a_model_of_images_has_two_axes(config: dict[str, Any], axes: int, tmp_path: Path) -> None:
    assert read(config, tmp_path).axes == axes


@pytest.mark.parametrize(("config", "both"), [(T5, True), (WHISPER, True), (BERT, False), (LLAMA_4K, False)])
def test_an_encoder_with_a_decoder_is_known_as_such(config: dict[str, Any], both: bool, tmp_path: Path) -> None:
    assert read(config, tmp_path).both is both
    advice = advise(checkpoint=tmp_path / "config.json", trained=64)
    assert any("the advice is for the encoder" in said for said in advice.assumptions) is both
    assert advice.facts["causal"] is (config is LLAMA_4K)


@pytest.mark.parametrize("key", ["kv_lora_rank", "sliding_window", "attention_chunk_size"])
def test_layers_that_keep_less_have_no_sum_of_their_cache(key: str, tmp_path: Path) -> None:
    assert read(LLAMA_4K, tmp_path).sizes.num_layers == 32
    assert read({**LLAMA_4K, key: 512}, tmp_path).sizes.num_layers is None


def test_a_family_has_an_encoding_and_no_sizes() -> None:
    found = family("gptj")
    assert (found.encoding, found.options["layout"], found.causal) == ("rotary", "interleaved", True)
    assert found.sizes.known() == {}


def test_a_config_without_positions_is_refused(tmp_path: Path) -> None:
    with pytest.raises(GnomonError, match="No position encoding was found"):
        read({"hidden_size": 8}, tmp_path)


def test_a_gguf_file_is_read_like_a_config(tmp_path: Path) -> None:
    path = write_gguf(tmp_path / "m.gguf", "llama", llama_metadata(), llama_tensors())
    found = read_checkpoint(path)
    stated = llama_metadata()
    assert (found.encoding, found.trained) == ("rotary", stated["context_length"])
    assert found.options["frequencies"]["base"] == pytest.approx(stated["rope.freq_base"])
