"""Low-rank adapters moved with their base: base and adapter together give the same outputs in the other pairs."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from gnomon.errors import GnomonError
from gnomon.layouts import permute
from gnomon.layouts.marker import MARKER
from tests.helpers.other_rotation import redrawn, rotating
from tests.helpers.tiny_transformers import tiny_model

RANK, PREFIX = 3, "base_model.model."
OPTIONS: dict[str, Any] = {"num_key_value_heads": 2, "attention_bias": True}


def base(folder: Path, family: str = "llama", **options: Any) -> Any:
    model: Any = redrawn(tiny_model(family, **options))
    model.save_pretrained(folder)
    return model


def adapter(folder: Path, model: nn.Module, modules: tuple[str, ...], *, magnitude: bool = False) -> Path:
    """What peft writes for these linear layers."""
    generator = torch.Generator().manual_seed(7)
    tensors = {}
    for name, layer in model.named_modules():
        if isinstance(layer, nn.Linear) and name.endswith(modules):
            start = PREFIX + name
            tensors[f"{start}.lora_A.weight"] = torch.randn(RANK, layer.in_features, generator=generator)
            tensors[f"{start}.lora_B.weight"] = torch.randn(layer.out_features, RANK, generator=generator)
            if magnitude:
                tensors[f"{start}.lora_magnitude_vector"] = torch.rand(layer.out_features, generator=generator) + 0.5
    folder.mkdir()
    save_file(tensors, folder / "adapter_model.safetensors")
    (folder / "adapter_config.json").write_text(json.dumps({"base_model_name_or_path": str(folder.parent / "base")}))
    (folder / "README.md").write_text("mine")
    return folder


def adapted(folder: Path, with_adapter: Path) -> Any:
    """The model of a folder with the update of the adapter in its weights (LoRA; DoRA, arXiv:2402.09353, eq. 5)."""
    from transformers import AutoModel

    model = AutoModel.from_pretrained(folder).eval()
    held: dict[str, Tensor] = load_file(with_adapter / "adapter_model.safetensors")
    for name, up in held.items():
        if name.endswith("lora_B.weight"):
            layer = model.get_submodule(name.removeprefix(PREFIX).removesuffix(".lora_B.weight"))
            weight = layer.weight + up @ held[name.replace("lora_B", "lora_A")]
            magnitude = held.get(name.replace("lora_B.weight", "lora_magnitude_vector"))
            if magnitude is not None:
                weight = weight * (magnitude / weight.norm(dim=1))[:, None]
            layer.weight = nn.Parameter(weight.detach())
    return model


def outputs(model: nn.Module) -> Tensor:
    ids = torch.randint(3, 53, (2, 9), generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        found: Tensor = model(input_ids=ids, position_ids=torch.arange(4, 13).expand(2, -1)).last_hidden_state
    return found


@pytest.mark.parametrize(
    ("family", "options", "modules", "magnitude"),
    [
        ("llama", OPTIONS, ("q_proj", "k_proj", "v_proj", "down_proj"), False),
        ("llama", OPTIONS, ("q_proj", "v_proj"), True),
        ("qwen3", {"num_key_value_heads": 2, "head_dim": 12}, ("k_proj",), False),
        ("gpt_neox", {}, ("query_key_value",), True),
        ("phi3", {"num_key_value_heads": 2}, ("qkv_proj", "o_proj"), False),
    ],
)
def test_base_and_adapter_moved_together_are_the_same_model(
    tmp_path: Path, family: str, options: dict[str, Any], modules: tuple[str, ...], magnitude: bool
) -> None:
    model = base(tmp_path / "base", family, **options)
    mine = adapter(tmp_path / "mine", model, modules, magnitude=magnitude)
    for name in ("base", "mine"):
        permute(tmp_path / name, tmp_path / f"{name}-moved", to="interleaved", program="torchtune")
    wanted = outputs(adapted(tmp_path / "base", mine))
    both_moved = adapted(tmp_path / "base-moved", tmp_path / "mine-moved")
    one_moved = adapted(tmp_path / "base-moved", mine)
    with rotating(both_moved, "interleaved"):
        torch.testing.assert_close(outputs(both_moved), wanted, rtol=0, atol=1e-4 * float(wanted.abs().max()))
        assert float((outputs(one_moved) - wanted).abs().max()) > 1e-2 * float(wanted.abs().max())


def test_what_reads_the_input_stays_and_the_rest_comes_back(tmp_path: Path) -> None:
    mine = adapter(tmp_path / "mine", base(tmp_path / "base", **OPTIONS), ("q_proj", "v_proj"), magnitude=True)
    done = permute(mine, tmp_path / "moved", to="interleaved", program="torchtune")
    assert (done.tensors, done.attentions, done.untouched) == (4, 2, 8)
    before, after = (load_file(folder / "adapter_model.safetensors") for folder in (mine, tmp_path / "moved"))
    changed = {name.rpartition("q_proj.")[2] for name in before if not torch.equal(before[name], after[name])}
    assert changed == {"lora_B.weight", "lora_magnitude_vector"}
    assert (tmp_path / "moved" / "README.md").read_text() == "mine"
    assert json.loads((tmp_path / "moved" / MARKER).read_text())["for"] == "torchtune"
    permute(tmp_path / "moved", tmp_path / "back", to="half")
    back = load_file(tmp_path / "back" / "adapter_model.safetensors")
    assert all(torch.equal(before[name], back[name]) for name in before)
    assert not (tmp_path / "back" / MARKER).exists()


def test_the_config_of_the_base_is_found_or_asked_for(tmp_path: Path) -> None:
    mine = adapter(tmp_path / "mine", base(tmp_path / "base"), ("q_proj",))
    config = tmp_path / "base" / "config.json"
    (mine / "adapter_config.json").write_text(json.dumps({"base_model_name_or_path": "somebody/model"}))
    with pytest.raises(GnomonError, match=r"adapter of 'somebody/model', which is no folder here.*--config"):
        permute(mine, tmp_path / "moved", to="interleaved", program="torchtune")
    for number, given in enumerate((config, tmp_path / "base")):
        permute(mine, tmp_path / f"moved{number}", to="interleaved", program="torchtune", config=given)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("o_proj", "lies on rotated lanes, so it fits models of either layout"),
        ("q_proj.lora_A", "no .*lora_A.weight' beside it"),
        ("q_proj.vera_B", "quantised or packed"),
    ],
)
def test_adapters_that_cannot_be_moved(tmp_path: Path, name: str, words: str) -> None:
    base(tmp_path / "base")
    start = f"{PREFIX}layers.0.self_attn."
    tensors = {f"{start}o_proj.lora_B.weight": torch.ones(32, 2), f"{start}o_proj.lora_A.weight": torch.ones(2, 32)}
    if name == "q_proj.lora_A":
        tensors[f"{start}q_proj.lora_B.weight"] = torch.ones(32, 2)
    elif name == "q_proj.vera_B":
        tensors[f"{start}{name}"] = torch.ones(32, 2)
    mine = tmp_path / "mine"
    mine.mkdir()
    save_file(tensors, mine / "adapter_model.safetensors")
    with pytest.raises(GnomonError, match=words):
        permute(mine, tmp_path / "moved", to="interleaved", program="x", config=tmp_path / "base")
    assert not (tmp_path / "moved").exists()
