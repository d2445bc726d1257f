"""What is read of a checkpoint: encoding, base, width, trained length, direction, and nothing is run."""

import json
from pathlib import Path
from typing import Any

import pytest

from gnomon.advisor.checkpoint import family, read_checkpoint
from gnomon.advisor.description import Checkpoint
from gnomon.errors import GnomonError
from tests.advisor.configs import BERT, GEMMA, LLAMA_4K, QWEN_YARN, T5
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
