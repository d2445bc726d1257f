"""Targets become raw files: JSON untouched, GGUF metadata with its lists, one sentence for anything else."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gnomon.errors import GnomonError
from gnomon.resolving import resolve
from gnomon.resolving.given import Given
from gnomon.resolving.loading import MARKER, load
from tests.helpers.tiny_gguf import llama_metadata, llama_tensors, write_gguf

CONFIG = {"model_type": "llama", "rope_theta": None, "rope_scaling": {"type": "su", "rope_type": "yarn"}}


def test_rows_that_were_moved_are_said_to_be(tmp_path: Path) -> None:
    config = {"model_type": "llama", "hidden_size": 64, "num_attention_heads": 4, "max_position_embeddings": 64}
    (tmp_path / "config.json").write_text(json.dumps(config))
    assert load(tmp_path).notes == ()
    (tmp_path / MARKER).write_text(json.dumps({"layout": "interleaved", "for": "torchtune"}))
    [note] = load(tmp_path / "config.json").notes
    assert note.startswith("The rows of this folder were moved to interleaved pairs for torchtune (gnomon-layout.json)")
    assert resolve(tmp_path, stacks="hf5").summary[0] == note


def test_a_config_file_a_folder_and_a_mapping_give_the_json_as_it_stands(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    (tmp_path / "tokenizer_config.json").write_text('{"model_max_length": 77}')
    for target in (tmp_path, str(tmp_path), tmp_path / "config.json"):
        given = load(target)
        assert given.config == CONFIG
        assert given.tokenizer == {"model_max_length": 77}
    assert load(CONFIG).config == CONFIG
    assert load(Given("x", config=CONFIG)).name == "x"


def test_a_config_of_another_name_takes_no_tokenizer_from_beside_it(tmp_path: Path) -> None:
    (tmp_path / "other.json").write_text(json.dumps(CONFIG))
    (tmp_path / "tokenizer_config.json").write_text('{"model_max_length": 77}')
    assert load(tmp_path / "other.json").tokenizer == {}


def test_a_broken_tokenizer_is_none(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    (tmp_path / "tokenizer_config.json").write_text("{")
    assert load(tmp_path).tokenizer == {}


def test_a_gguf_file_gives_metadata_and_divisors(tmp_path: Path) -> None:
    tensors = {**llama_tensors(), "rope_freqs.weight": np.array([1, 1, 2, 8, 8, 8, 8, 8], dtype=np.float32)}
    given = load(write_gguf(tmp_path / "tiny.gguf", "llama", {**llama_metadata(), "sections": [4, 2, 2]}, tensors))
    assert given.config is None
    assert given.metadata is not None
    assert given.metadata["llama.rope.freq_base"] == 5e5
    assert given.metadata["llama.sections"] == [4, 2, 2]
    assert "tokenizer.ggml.tokens" not in given.metadata
    assert given.factors == {"rope_freqs.weight": (1, 1, 2, 8, 8, 8, 8, 8)}


def test_divisors_that_are_no_list_are_refused(tmp_path: Path) -> None:
    tensors = {**llama_tensors(), "rope_freqs.weight": np.ones((2, 4), dtype=np.float32)}
    with pytest.raises(GnomonError, match=r"rope_freqs.weight has the shape \(2, 4\), and is no list"):
        load(write_gguf(tmp_path / "tiny.gguf", "llama", llama_metadata(), tensors))


@pytest.mark.parametrize(
    ("target", "sentence"),
    [
        ("", "gnomon resolves a config.json"),
        (7, "it got int '7'"),
        ("/nowhere/config.json", "There is no file or folder '/nowhere/config.json'"),
        (__file__, "is not a kind of file that engines read"),
        ("x" * 5000, "There is no file or folder"),
        ("a\0b", "There is no file or folder"),
    ],
)
def test_what_cannot_be_read_ends_in_one_sentence(target: Any, sentence: str) -> None:
    with pytest.raises(GnomonError, match=sentence):
        load(target)
