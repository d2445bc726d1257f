"""What a target becomes: the weights that it has in the dtype that it has, and never random numbers."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file
from torch import nn

from gnomon.adapters.subject import Subject
from gnomon.errors import GnomonError
from gnomon.exporting.target import load_model

SIZES = {"vocab_size": 29, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
Q_PROJ = "model.layers.0.self_attn.q_proj.weight"
Saved = Callable[..., Path]


def llama(*, tied: bool = False) -> nn.Module:
    config = transformers.LlamaConfig(
        **SIZES, num_hidden_layers=1, hidden_size=16, intermediate_size=16, num_attention_heads=2,
        num_key_value_heads=1, tie_word_embeddings=tied,
    )  # fmt: skip
    model: nn.Module = transformers.LlamaForCausalLM(config)
    return model


def in_bfloat16() -> tuple[nn.Module, tuple[torch.Tensor]]:
    return nn.Sequential(nn.Embedding(11, 4)).bfloat16(), (torch.ones(2, 3, dtype=torch.int64),)


@pytest.fixture
def saved(tmp_path: Path) -> Saved:
    def save(*left_out: str, tied: bool = False) -> Path:
        """A folder as save_pretrained writes it, less the tensors of these names."""
        llama(tied=tied).save_pretrained(tmp_path)  # type: ignore[operator]
        weights = tmp_path / "model.safetensors"
        kept = {name: tensor for name, tensor in load_file(weights).items() if name not in left_out}
        save_file(kept, weights, metadata={"format": "pt"})
        return tmp_path

    return save


def test_a_folder_that_lacks_a_tensor_is_refused(saved: Saved) -> None:
    folder = saved(Q_PROJ)
    with pytest.raises(GnomonError, match=f"{folder} lacks 1 tensor that its model needs, {Q_PROJ}"):
        load_model(folder, None, None)


def test_a_folder_that_lacks_two_names_the_first(saved: Saved) -> None:
    folder = saved(Q_PROJ, "model.norm.weight")
    with pytest.raises(GnomonError, match=rf"lacks 2 tensors that its model needs, {Q_PROJ} among them"):
        load_model(folder, None, None)


@pytest.mark.parametrize("tied", [False, True])
def test_a_whole_folder_is_read_with_its_numbers(saved: Saved, tied: bool) -> None:
    folder = saved(tied=tied)
    weights = load_file(folder / "model.safetensors")
    assert tied == ("lm_head.weight" not in weights)
    _, model, _ = load_model(folder, None, None)
    assert torch.equal(model.get_parameter(Q_PROJ), weights[Q_PROJ])


@pytest.mark.parametrize("name", ["config.json", ""])
def test_a_config_without_weights_is_refused(saved: Saved, name: str) -> None:
    folder = saved()
    (folder / "model.safetensors").unlink()
    with pytest.raises(GnomonError, match="no weights") as raised:
        load_model(folder / name, None, None)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(("asked", "given"), [(None, torch.bfloat16), ("float32", torch.float32)])
def test_a_factory_keeps_its_dtype_and_its_example(asked: str | None, given: torch.dtype) -> None:
    name, model, example = load_model("tests.exporting.test_target:in_bfloat16", None, asked)
    assert name == "tests.exporting.test_target:in_bfloat16"
    assert {parameter.dtype for parameter in model.parameters()} == {given}
    assert example["input"].shape == (2, 3)


@pytest.mark.parametrize("tied", [False, True])
def test_a_missing_name_of_a_tensor_that_another_name_has_is_no_lack(
    tied: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = Subject("x", module=llama(tied=tied), loading={"missing": ["lm_head.weight"]}, example={})
    monkeypatch.setattr("gnomon.exporting.target.load_subject", lambda *_, **__: loaded)
    if tied:
        assert load_model("x", None, None)[1] is loaded.module
    else:
        with pytest.raises(GnomonError, match=r"lacks 1 tensor that its model needs, lm_head\.weight"):
            load_model("x", None, None)
