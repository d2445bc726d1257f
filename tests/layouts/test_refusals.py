"""What is not moved: each refusal is one sentence, and nothing is left behind."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from gnomon.errors import GnomonError
from gnomon.layouts import permute
from gnomon.layouts.marker import MARKER
from gnomon.resolving.stack import registry as stacks
from tests.helpers.tiny_transformers import edit_config, save_tiny

Edit = Callable[[dict[str, Tensor]], Any]
Q = "layers.0.self_attn.q_proj"


def folder(tmp_path: Path, family: str = "llama", edit: Edit = lambda _: None, **options: Any) -> Path:
    made = save_tiny(tmp_path / "model", family, **options)
    tensors = load_file(made / "model.safetensors")
    edit(tensors)
    save_file(tensors, made / "model.safetensors")
    return made


def refused(made: Path, words: str, **more: Any) -> None:
    before = {path: path.read_bytes() for path in made.iterdir()}
    with pytest.raises(GnomonError, match=words) as raised:
        permute(made, made.parent / "out", **{"to": "interleaved", "program": "torchtune", **more})
    assert "\n" not in str(raised.value)
    assert [path.name for path in made.parent.iterdir()] == [made.name]
    assert {path: path.read_bytes() for path in made.iterdir()} == before


@pytest.mark.parametrize(
    ("name", "tensor"),
    [
        (f"{Q}.qweight", torch.zeros(4, 32, dtype=torch.int32)),  # GPTQ, AWQ
        (f"{Q}.weight_scale_inv", torch.ones(1, 1)),  # blocks of 8-bit floats
        (f"{Q}.weight.absmax", torch.ones(16)),  # bitsandbytes
        (f"{Q}.weight_packed", torch.zeros(32, 4, dtype=torch.int32)),  # compressed-tensors
    ],
)
def test_quantised_weights_are_refused(tmp_path: Path, name: str, tensor: Tensor) -> None:
    refused(folder(tmp_path, edit=lambda tensors: tensors.update({name: tensor})), "quantised or packed")


def test_a_config_is_for_adapters_and_a_gguf_file_is_not_supported(tmp_path: Path) -> None:
    made = folder(tmp_path)
    refused(made, "is a model with a config.json of its own", config=made / "nope.json")
    (tmp_path / "model.gguf").write_bytes(b"GGUF")
    with pytest.raises(GnomonError, match="GGUF files are not supported"):
        permute(tmp_path / "model.gguf", tmp_path / "out", to="half")


def test_a_packed_weight_has_not_the_rows_of_its_heads(tmp_path: Path) -> None:
    packed = {f"{Q}.weight": torch.zeros(512, 1, dtype=torch.uint8)}
    refused(folder(tmp_path, edit=lambda tensors: tensors.update(packed)), "do not fit 4 heads of 8")


def test_a_tensor_of_unknown_use_in_an_attention_is_refused(tmp_path: Path) -> None:
    gate = {"layers.1.self_attn.head_gate.weight": torch.ones(4, 32)}
    refused(folder(tmp_path, edit=lambda tensors: tensors.update(gate)), "head_gate.weight' lies in an attention")


def test_a_layer_without_its_projections_is_refused(tmp_path: Path) -> None:
    gone = [f"layers.1.self_attn.{name}_proj.weight" for name in "qk"]
    refused(folder(tmp_path, edit=lambda tensors: [tensors.pop(name) for name in gone]), "states 2 layers, but .* in 1")


def test_queries_without_keys_are_refused(tmp_path: Path) -> None:
    made = folder(tmp_path, edit=lambda tensors: tensors.pop("layers.1.self_attn.k_proj.weight"))
    refused(made, "layers.1.self_attn. needs one projection of queries and one of keys")


def test_keys_that_serve_as_values_are_refused(tmp_path: Path) -> None:
    made = folder(tmp_path, edit=lambda tensors: tensors.pop("layers.1.self_attn.v_proj.weight"))
    refused(made, "no projection of values")


@pytest.mark.parametrize(
    ("family", "options", "words"),
    [
        ("bert", {}, "'bert' has no rotation"),
        ("wav2vec2-conformer", {"position_embeddings_type": "rotary"}, "before queries and keys are made"),
        ("roformer", {"rotary_value": True}, "turns its values too"),
        ("minimax", {"num_key_value_heads": 2}, "its use is not known"),
        ("falcon", {"alibi": True}, "has no rotation"),
    ],
)
def test_families_whose_rows_do_not_hold_the_pairs(
    tmp_path: Path, family: str, options: dict[str, Any], words: str
) -> None:
    refused(folder(tmp_path, family, **options), words)


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"model_type": "nobody"}, "'nobody' is not one gnomon knows"),
        ({"num_attention_heads": 5, "head_dim": 8}, "do not fit 5 heads of 8"),
        ({"num_attention_heads": "many"}, "must state how many heads"),
        ({"head_dim": 7}, "7 turned lanes"),
        ({"num_hidden_layers": 3}, "states 3 layers"),
        ({"num_hidden_layers": -1, "head_dim": 6}, "do not fit 4 heads of 6"),
    ],
)
def test_a_config_that_does_not_fit_is_refused(tmp_path: Path, config: dict[str, Any], words: str) -> None:
    made = folder(tmp_path)
    edit_config(made, **config)
    refused(made, words)


def test_a_fused_projection_of_another_size_is_refused(tmp_path: Path) -> None:
    name = "layers.0.attention.query_key_value.weight"
    made = folder(tmp_path, "gpt_neox", lambda tensors: tensors.update({name: torch.zeros(80, 32)}))
    refused(made, "80 rows of a fused projection")


def test_rows_that_are_so_already_are_refused(tmp_path: Path) -> None:
    made = folder(tmp_path)
    refused(made, "are taken to be half already.*--from interleaved", to="half")
    refused(made, "are taken to be interleaved already", came_from="interleaved")


def test_a_result_that_its_class_cannot_run_needs_the_name_of_one_that_can(tmp_path: Path) -> None:
    made = folder(tmp_path)
    for program in (None, "", "  "):
        refused(made, "The class of llama in transformers turns half pairs.*--for NAME", program=program)


def test_programs_that_read_folders_as_the_class_does_are_no_such_name(tmp_path: Path) -> None:
    made = folder(tmp_path)
    for program in ("vLLM", "transformers", "llama.cpp"):
        assert program.lower() in stacks.names() or program == "transformers"
        refused(made, f"{program} reads such a folder as transformers does", program=program)


def test_a_marker_that_contradicts_is_not_overruled(tmp_path: Path) -> None:
    made = folder(tmp_path)
    (made / MARKER).write_text(json.dumps({"layout": "half"}))
    refused(made, "says that the rows are half, not interleaved", to="half", came_from="interleaved")
    (made / MARKER).write_text(json.dumps({"layout": "sideways"}))
    refused(made, "must state the layout half or interleaved")
    (made / MARKER).write_text("{")
    refused(made, "is not valid JSON")


@pytest.mark.usefixtures("unchecked")
def test_places_that_cannot_be_written(tmp_path: Path) -> None:
    made = folder(tmp_path)
    with pytest.raises(GnomonError, match="exists already"):
        permute(made, made, to="interleaved", program="torchtune")
    with pytest.raises(GnomonError, match="lies in"):
        permute(made, made / "inner", to="interleaved", program="torchtune")
    with pytest.raises(GnomonError, match="does not exist"):
        permute(made, tmp_path / "nowhere" / "out", to="interleaved", program="torchtune")
    with pytest.raises(GnomonError, match="one of half, interleaved"):
        permute(made, tmp_path / "out", to="sideways")  # type: ignore[arg-type]


def test_weights_in_pickles_and_missing_ones_are_refused(tmp_path: Path) -> None:
    made = folder(tmp_path)
    (made / "model.safetensors").rename(made / "pytorch_model.bin")
    refused(made, "save the model as safetensors first")
