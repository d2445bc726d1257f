"""PE219: a conversion between halves and pairs, by the model before it."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from gnomon.doctor import diagnose
from gnomon.doctor.evidence.query_key_rows import Heads, arrangement
from tests.helpers.gallery_tables import edited, only
from tests.helpers.pairwise_llama import Trained
from tests.helpers.tiny_transformers import save_tiny
from tests.helpers.toys import llama, only_finding

EXAMPLE = (torch.arange(7)[None],)


def judge(target: Any, reference: Any) -> Any:
    [check] = diagnose(target, select="PE219", reference=reference).checks
    return check


@pytest.mark.parametrize(("gathered", "status"), [(False, "failed"), (True, "passed")])
def test_a_converter_that_forgot_to_gather_is_found(tmp_path: Path, gathered: bool, status: str) -> None:
    trained = Trained(interleaved=True)
    check = judge(trained.export(tmp_path, gathered=gathered), (trained, EXAMPLE))
    assert check.status == status, check.detail
    logits = llama_logits(tmp_path)
    same = torch.allclose(logits, trained(EXAMPLE[0]), atol=1e-4)
    assert same == gathered, "the check says what the logits say"
    assert torch.allclose(logits[:, 0], trained(EXAMPLE[0])[:, 0], atol=1e-4), "position 0 never tells"
    if not gathered:
        assert {finding.where for finding in check.findings} == {
            f"model.layers.*.self_attn.{name}_proj.weight" for name in "qk"
        }
        assert all("[0, 2, 4, 6, 1, 3, 5, 7]" in finding.fix for finding in check.findings)


def llama_logits(folder: Path) -> Tensor:
    import transformers

    model: Any = transformers.LlamaForCausalLM.from_pretrained(folder)
    logits: Tensor = model(EXAMPLE[0]).logits
    return logits


def test_halves_that_were_gathered_all_the_same_are_found(tmp_path: Path) -> None:
    trained = Trained(interleaved=False)
    check = judge(trained.export(tmp_path, gathered=True), (trained, EXAMPLE))
    assert check.status == "failed"
    assert all("should be as before" in finding.message for finding in check.findings)
    assert all("[0, 4, 1, 5, 2, 6, 3, 7]" in finding.fix for finding in check.findings)


def test_queries_without_keys_are_found(tmp_path: Path) -> None:
    trained = Trained(interleaved=True)
    folder = trained.export(tmp_path / "", gathered=True)
    bare = Trained(interleaved=True).export(_made(tmp_path / "bare"), gathered=False)
    from safetensors.torch import load_file, save_file

    keys = {name: value for name, value in load_file(bare / "model.safetensors").items() if "k_proj" in name}
    save_file(load_file(folder / "model.safetensors") | keys, folder / "model.safetensors", {"format": "pt"})
    check = judge(folder, (trained, EXAMPLE))
    assert [finding.where for finding in check.findings] == ["model.layers.*.self_attn.k_proj.weight"]


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def test_biases_go_with_their_rows(tmp_path: Path) -> None:
    before = save_tiny(_made(tmp_path / "before"), "qwen2")

    def gather(tensors: dict[str, Tensor]) -> None:
        name = only(tensors, "layers.1.self_attn.q_proj.bias")
        tensors[name] = tensors[name].view(-1, 8)[:, [0, 2, 4, 6, 1, 3, 5, 7]].flatten()

    def fill(tensors: dict[str, Tensor]) -> None:
        for name in tensors:
            if "bias" in name:
                tensors[name] = torch.randn(tensors[name].shape, generator=torch.Generator().manual_seed(len(name)))

    def both(tensors: dict[str, Tensor]) -> None:
        fill(tensors)
        gather(tensors)

    edited(before, "qwen2", fill)
    after = edited(_made(tmp_path / "after"), "qwen2", both)
    assert "layers.*.self_attn.q_proj.bias" in only_finding(judge(after, before)).where


def test_the_same_model_and_a_rounded_or_tuned_one_pass(tmp_path: Path) -> None:
    before = llama(num_key_value_heads=2)
    after = llama(num_key_value_heads=2)
    with torch.no_grad():
        for weight in after.parameters():
            weight.add_(torch.randn(weight.shape, generator=torch.Generator().manual_seed(1)) * weight.std() * 0.2)
    assert judge(after.bfloat16(), before).status == "passed"


def test_other_weights_tell_nothing() -> None:
    before, after = llama(), llama()
    torch.nn.init.normal_(after.model.layers[0].self_attn.q_proj.weight)
    for layer in after.model.layers:
        for projection in (layer.self_attn.q_proj, layer.self_attn.k_proj):
            torch.nn.init.normal_(projection.weight)
    check = judge(after, before)
    assert (check.status, check.detail[:11]) == ("not-applicable", "cannot tell")


def test_without_a_reference_it_says_what_to_pass() -> None:
    [check] = diagnose(llama(), select="PE219").checks
    assert (check.status, "reference=" in check.detail) == ("not-applicable", True)


@pytest.mark.parametrize(("width", "rotated"), [(8, 8), (16, 8), (64, 64)])
def test_arrangements_are_told_with_lanes_that_are_not_rotated(width: int, rotated: int) -> None:
    shape = Heads(width, rotated)
    rows = torch.randn(3 * width, 20, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    pairs = rows.view(3, width, 20)
    halves = torch.cat([pairs[:, 0:rotated:2], pairs[:, 1:rotated:2], pairs[:, rotated:]], dim=1).view(-1, 20)
    assert arrangement(rows, rows, shape) == "same"
    assert arrangement(halves, rows, shape) == "half"
    assert arrangement(rows, halves, shape) == "interleaved"
    assert arrangement(rows.flip(0), rows, shape) is None
