"""Rows moved to the other pairs: the family's own model gives the same outputs when it turns the other pairs."""

from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from gnomon.kernels.rotation import Layout
from gnomon.layouts import Permuted, permute
from gnomon.layouts.geometry import geometry_of
from tests.helpers.other_rotation import redrawn, rotating
from tests.helpers.tiny_transformers import tiny_fields, tiny_model

SINGLE = ("gpt_oss", "minimax_m2")  #: their experts take no float64
NORMS_IN_FLOAT32 = 5e-6  #: of the largest output; several classes compute norms and rotations in float32
GROUPED = {"num_key_value_heads": 2}
#: family, options, tensors that move in each layer
FAMILIES: list[tuple[str, dict[str, Any], int]] = [
    ("llama", {}, 2),
    ("llama", {**GROUPED, "head_dim": 12, "attention_bias": True}, 4),
    ("qwen2", GROUPED, 4),
    ("qwen3", {**GROUPED, "head_dim": 12}, 4),
    ("olmo2", GROUPED, 4),
    ("gemma3_text", {**GROUPED, "head_dim": 12}, 4),
    ("gemma4_text", GROUPED, 4),
    ("gpt_oss", {**GROUPED, "head_dim": 8}, 4),
    ("smollm3", GROUPED, 2),
    ("diffllama", GROUPED, 2),
    ("minimax_m2", {}, 4),
    ("gpt_neox", {}, 2),
    ("phi3", GROUPED, 1),
    ("phi", {"qk_layernorm": True, **GROUPED}, 8),
    ("persimmon", {"partial_rotary_factor": 0.5}, 6),
    ("stablelm", {**GROUPED, "qk_layernorm": True, "partial_rotary_factor": 0.5, "use_qkv_bias": True}, 10),
    ("falcon", {}, 1),
    ("falcon", {"new_decoder_architecture": True, "num_kv_heads": 2, "bias": True}, 2),
    ("falcon", {"multi_query": False}, 1),
    ("modernbert", {"pad_token_id": 0, "cls_token_id": 1, "sep_token_id": 2}, 1),
    ("nomic_bert", {}, 1),
    ("glm4", {**GROUPED, "head_dim": 8}, 4),
    ("cohere", {**GROUPED, "use_qk_norm": True}, 4),
    ("cohere2", {**GROUPED}, 2),
    ("helium", {**GROUPED, "head_dim": 8}, 2),
    ("gptj", {}, 2),
    ("codegen", {}, 1),
]


def build(family: str, options: dict[str, Any]) -> nn.Module:
    model = redrawn(tiny_model(family, **options))
    return model if family in SINGLE else model.double()


def saved(model: Any, folder: Path) -> Path:
    model.save_pretrained(folder)
    return folder


def reloaded(model: Any, folder: Path) -> nn.Module:
    found: nn.Module = type(model).from_pretrained(folder, dtype=model.dtype).eval()
    return found


def outputs(model: nn.Module) -> Tensor:
    ids = torch.randint(3, 53, (2, 11), generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        result: Tensor = model(input_ids=ids, position_ids=torch.arange(5, 16).expand(2, -1)).last_hidden_state
    return result


def other(layout: Layout) -> Layout:
    return "interleaved" if layout == "half" else "half"


def both_ways(model: nn.Module, tmp_path: Path, family: str, options: dict[str, Any]) -> tuple[Layout, Permuted]:
    """original -> moved -> back; what was done on the way there."""
    own = geometry_of(tiny_fields(family) | options).layout
    there = permute(saved(model, tmp_path / "original"), tmp_path / "moved", to=other(own), program="torchtune")
    permute(tmp_path / "moved", tmp_path / "back", to=own)
    return own, there


@pytest.mark.parametrize(
    ("family", "options", "count"), FAMILIES, ids=lambda value: value if type(value) is str else ""
)
def test_the_model_with_moved_rows_and_the_other_rotation_is_the_same(
    tmp_path: Path, family: str, options: dict[str, Any], count: int
) -> None:
    model = build(family, options)
    own, there = both_ways(model, tmp_path, family, options)
    assert there.tensors == 2 * count
    assert there.error < 1e-12
    wanted, other_model = outputs(model), reloaded(model, tmp_path / "moved")
    with rotating(other_model, other(own)):
        torch.testing.assert_close(
            outputs(other_model), wanted, rtol=0, atol=NORMS_IN_FLOAT32 * float(wanted.abs().max())
        )
        without_moving = outputs(model)
    assert float((without_moving - wanted).abs().max()) > 1e-3 * float(wanted.abs().max())
    one, two = (load_file(tmp_path / name / "model.safetensors") for name in ("original", "back"))
    assert one.keys() == two.keys()
    assert all(torch.equal(one[name], two[name]) for name in one)


@pytest.mark.parametrize("latent", [{}, {"q_lora_rank": None, "attention_bias": True}])
def test_deepseek_runs_the_moved_rows_by_its_own_key(tmp_path: Path, latent: dict[str, Any]) -> None:
    options = {"attention_bias": True, **latent}
    model = build("deepseek_v3", options)
    done = permute(saved(model, tmp_path / "original"), tmp_path / "moved", to="half")
    assert any("rope_interleave is false" in words for words in done.words)
    wanted, found = outputs(model), reloaded(model, tmp_path / "moved")
    assert found.config.rope_interleave is False  # type: ignore[union-attr]
    torch.testing.assert_close(outputs(found), wanted, rtol=0, atol=NORMS_IN_FLOAT32 * float(wanted.abs().max()))
    permute(tmp_path / "moved", tmp_path / "back", to="interleaved")
    one, two = (load_file(tmp_path / name / "model.safetensors") for name in ("original", "back"))
    assert all(torch.equal(one[name], two[name]) for name in one)


def test_llama4_turns_complex_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import transformers.models.llama4.modeling_llama4 as llama4

    def by_halves(q: Tensor, k: Tensor, turns: Tensor) -> tuple[Tensor, Tensor]:
        def turn(x: Tensor) -> Tensor:
            a, b = x.chunk(2, dim=-1)
            c, s = turns.real[:, :, None], turns.imag[:, :, None]
            return torch.cat([a * c - b * s, b * c + a * s], dim=-1)

        return turn(q.float()).to(q), turn(k.float()).to(k)

    model = redrawn(tiny_model("llama4_text"))
    own, _ = both_ways(model, tmp_path, "llama4_text", {})
    assert own == "interleaved"
    wanted, moved = outputs(model), reloaded(model, tmp_path / "moved").float()
    monkeypatch.setattr(llama4, "apply_rotary_emb", by_halves)
    torch.testing.assert_close(outputs(moved), wanted, rtol=1e-4, atol=1e-5 * float(wanted.abs().max()))


def test_roformer_and_text_beside_images_round_trip(tmp_path: Path) -> None:
    for family, count in (("roformer", 4), ("qwen2_vl", 4)):
        folder = tmp_path / family
        folder.mkdir()
        _, there = both_ways(build(family, {}), folder, family, {})
        assert (there.tensors, there.attentions) == (2 * count, 2)  # the image tower stays as it is
        one, two = (load_file(folder / name / "model.safetensors") for name in ("original", "back"))
        assert all(torch.equal(one[name], two[name]) for name in one)
