"""What was written is compared by scores before it gets its name: rows moved wrongly leave nothing."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from gnomon.errors import GnomonError
from gnomon.kernels.rotation import Layout
from gnomon.layouts import permute
from gnomon.layouts.lanes import Lanes
from tests.helpers.other_rotation import redrawn
from tests.helpers.tiny_transformers import tiny_model

MOVE = Lanes.move
Move = Callable[[Lanes, Tensor, Layout], Tensor]


def keys_stay(lanes: Lanes, tensor: Tensor, to: Layout) -> Tensor:
    return tensor if lanes.key and not lanes.query else MOVE(lanes, tensor, to)


def biases_stay(lanes: Lanes, tensor: Tensor, to: Layout) -> Tensor:
    return tensor if tensor.ndim == 1 and lanes.rows > lanes.width else MOVE(lanes, tensor, to)


def norms_stay(lanes: Lanes, tensor: Tensor, to: Layout) -> Tensor:
    return tensor if tensor.ndim == 1 and lanes.rows == lanes.width else MOVE(lanes, tensor, to)


def moved_twice(lanes: Lanes, tensor: Tensor, to: Layout) -> Tensor:
    return MOVE(lanes, MOVE(lanes, tensor, to), to)


def last_head_stays(lanes: Lanes, tensor: Tensor, to: Layout) -> Tensor:
    before = tensor.clone()
    MOVE(lanes, tensor, to)
    tensor[-lanes.width :] = before[-lanes.width :]
    return tensor


def one_pair_swapped(lanes: Lanes, tensor: Tensor, to: Layout) -> Tensor:
    MOVE(lanes, tensor, to)
    if lanes.query:
        tensor[:2] = tensor[:2].flip(0)
    return tensor


def a_value_changes(lanes: Lanes, tensor: Tensor, to: Layout) -> Tensor:
    MOVE(lanes, tensor, to)
    tensor[-1] += 1
    return tensor


def moved_the_other_way(lanes: Lanes, tensor: Tensor, to: Layout) -> Tensor:
    return MOVE(lanes, tensor, "half" if to == "interleaved" else "interleaved")


def unwritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, family: str, move: Move, **options: Any) -> str:
    model: Any = redrawn(tiny_model(family, **options))
    model.save_pretrained(tmp_path / "model")
    monkeypatch.setattr(Lanes, "move", move)
    with pytest.raises(GnomonError) as raised:
        permute(tmp_path / "model", tmp_path / "out", to="interleaved", program="torchtune")
    assert [path.name for path in tmp_path.iterdir()] == ["model"]
    return str(raised.value)


@pytest.mark.parametrize(
    "move", [keys_stay, biases_stay, moved_twice, last_head_stays, one_pair_swapped, moved_the_other_way]
)
def test_rows_that_were_moved_wrongly_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, move: Move) -> None:
    words = unwritten(tmp_path, monkeypatch, "qwen2", move, num_key_value_heads=2)
    assert "The scores of layers.0.self_attn are not the same after the rows were moved" in words
    assert "nothing is kept" in words


def test_norms_that_stayed_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "not the same" in unwritten(tmp_path, monkeypatch, "qwen3", norms_stay, num_key_value_heads=2, head_dim=12)


@pytest.mark.parametrize(("family", "options"), [("phi3", {"num_key_value_heads": 2}), ("gpt_neox", {})])
def test_values_in_a_fused_projection_must_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, family: str, options: dict[str, Any]
) -> None:
    assert "not the same" in unwritten(tmp_path, monkeypatch, family, a_value_changes, **options)


def test_weights_that_are_no_numbers_cannot_be_verified(tmp_path: Path) -> None:
    model: Any = tiny_model("llama")
    model.save_pretrained(tmp_path / "model")
    tensors = load_file(tmp_path / "model" / "model.safetensors")
    tensors["layers.1.self_attn.k_proj.weight"][3, 5] = torch.nan
    save_file(tensors, tmp_path / "model" / "model.safetensors")
    with pytest.raises(GnomonError, match=r"weights of layers\.1\.self_attn give scores that are no numbers"):
        permute(tmp_path / "model", tmp_path / "out", to="interleaved", program="torchtune")
    assert not (tmp_path / "out").exists()
