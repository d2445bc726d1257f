"""Folders that are written: shards, markers, small files, originals; and the memory it takes."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from gnomon.layouts import permute
from gnomon.layouts.marker import MARKER
from tests.helpers.peaks import peak_growths
from tests.helpers.tiny_transformers import save_tiny, tiny_model

SAID = "That rows were {} is taken from what you said (--from); the class of llama turns half pairs"


def test_what_the_user_alone_says_of_the_rows_is_repeated(tmp_path: Path) -> None:
    source = save_tiny(tmp_path / "model", "llama")
    done = permute(source, tmp_path / "out", to="half", came_from="interleaved")
    assert any(word.startswith(SAID.format("interleaved")) for word in done.words)
    assert done.to_dict()["schema_version"] == 1
    plain = permute(source, tmp_path / "other", to="interleaved", came_from="half", program="torchtune")
    marked = permute(tmp_path / "other", tmp_path / "back", to="half")
    assert not any("--from" in word for word in (*plain.words, *marked.words))


WHOLE = """
import torch, safetensors.torch, json, pathlib, tempfile

def setup(layers):
    folder = pathlib.Path(tempfile.mkdtemp())
    config = {"model_type": "llama", "hidden_size": 1024, "num_attention_heads": 16, "num_hidden_layers": layers}
    (folder / "config.json").write_text(json.dumps(config))
    tensors = {
        f"model.layers.{n}.self_attn.{p}_proj.weight": torch.zeros(1024, 1024) for n in range(layers) for p in "qkvo"
    }
    safetensors.torch.save_file(tensors, folder / "model.safetensors")
    return folder

def warm_up(folder):
    import shutil
    from gnomon.layouts import permute
    small = folder / "small"
    small.mkdir()
    config = {"model_type": "llama", "hidden_size": 64, "num_attention_heads": 1, "num_hidden_layers": 1}
    (small / "config.json").write_text(json.dumps(config))
    tensors = {f"layers.0.self_attn.{p}_proj.weight": torch.ones(64, 64) for p in "qkvo"}
    safetensors.torch.save_file(tensors, small / "model.safetensors")
    permute(small, folder / "warm", to="interleaved", program="torchtune")

def run(folder):
    from gnomon.layouts import permute
    permute(folder, folder.parent / f"{folder.name}-out", to="interleaved", program="torchtune")
    import shutil
    shutil.rmtree(folder)
    shutil.rmtree(folder.parent / f"{folder.name}-out")
"""
LARGEST = 4 * 2**20


def digests(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}


def test_shards_and_small_files_stay_as_they_are(tmp_path: Path) -> None:
    model: Any = tiny_model("qwen2", num_key_value_heads=2)
    model.save_pretrained(tmp_path / "model", max_shard_size="10KB")
    (tmp_path / "model" / "tokenizer_config.json").write_text("{}")
    (tmp_path / "model" / "extra.bin").write_bytes(b"old weights")
    before = digests(tmp_path / "model")
    assert sum(name.endswith(".safetensors") for name in before) > 2
    done = permute(tmp_path / "model", tmp_path / "out", to="interleaved", program="torchtune")
    assert digests(tmp_path / "model") == before
    after = digests(tmp_path / "out")
    assert set(after) == (set(before) | {MARKER}) - {"extra.bin"}
    assert done.left_behind == ("extra.bin",)
    assert {after[name] == before[name] for name in ("config.json", "tokenizer_config.json")} == {True}
    everything = [{}, {}]  # type: list[dict[str, torch.Tensor]]
    for tensors, folder in zip(everything, ("model", "out"), strict=True):
        for path in (tmp_path / folder).glob("*.safetensors"):
            tensors.update(load_file(path))
    moved = {name for name, tensor in everything[0].items() if not torch.equal(tensor, everything[1][name])}
    assert {name.split(".")[-2] for name in moved} <= {"q_proj", "k_proj"}
    assert done.untouched == len(everything[0]) - done.tensors


def test_the_marker_says_what_the_rows_are_for(tmp_path: Path) -> None:
    save_tiny(tmp_path / "model", "llama")
    done = permute(tmp_path / "model", tmp_path / "out", to="interleaved", program="torchtune")
    told = json.loads((tmp_path / "out" / MARKER).read_text())
    assert (told["layout"], told["for"]) == ("interleaved", "torchtune")
    assert "class of llama in transformers turns half and gives wrong outputs" in told["note"]
    assert any("would run the result wrongly; it is for torchtune" in words for words in done.words)
    assert any(words.startswith("Verified: the scores of 2 attentions") for words in done.words)
    again = permute(tmp_path / "out", tmp_path / "back", to="half")
    assert (again.came_from, again.to) == ("interleaved", "half")
    assert any("turns half pairs and runs the result" in words for words in again.words)
    assert not (tmp_path / "back" / MARKER).exists()


def test_rows_that_a_converter_left_behind_are_moved_without_a_program(tmp_path: Path) -> None:
    save_tiny(tmp_path / "model", "llama")
    done = permute(tmp_path / "model", tmp_path / "out", to="half", came_from="interleaved")
    assert (done.came_from, done.to) == ("interleaved", "half")
    assert json.loads(json.dumps(done.to_dict()))["tensors"] == 4


def test_a_switch_inside_a_text_config_is_set_there(tmp_path: Path) -> None:
    folder = save_tiny(tmp_path / "model", "deepseek_v3")
    own = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({"model_type": "some_vl", "text_config": own}))
    permute(folder, tmp_path / "out", to="half")
    config = json.loads((tmp_path / "out" / "config.json").read_text())
    assert config["text_config"] == {**own, "rope_interleave": False}
    assert "rope_interleave" not in config


@pytest.mark.parametrize("family", ["llama4_text", "smollm3", "cohere2"])
def test_layers_without_rotation_move_too_and_score_alike(tmp_path: Path, family: str) -> None:
    save_tiny(tmp_path / "model", family)
    own = "half" if family == "smollm3" else "interleaved"
    to = "interleaved" if own == "half" else "half"
    assert permute(tmp_path / "model", tmp_path / "out", to=to, program="x").error < 1e-12  # type: ignore[arg-type]


def test_memory_does_not_grow_with_the_model() -> None:
    two, eight = peak_growths(WHOLE, {"layers": 2}, {"layers": 8})
    assert two < LARGEST + 6 * 2**20  # two chunks of a tensor that is copied, or one in float64
    assert eight < two + LARGEST / 2
