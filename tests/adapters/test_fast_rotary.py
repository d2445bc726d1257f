"""Models of transformers give the same with the fast rotation, better in half precision, and are put back whole."""

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from transformers import AutoConfig, AutoModelForCausalLM
from transformers.models.llama import modeling_llama

import gnomon
from gnomon.adapters.fast_rotary import fast_rotary
from gnomon.errors import GnomonError

SIZES = {
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "hidden_size": 64,
    "intermediate_size": 48,
    "vocab_size": 60,
    "pad_token_id": 0,
    "max_position_embeddings": 256,
}
GROUPED = {"num_key_value_heads": 2}


def tiny(kind: str, **more: Any) -> nn.Module:
    torch.manual_seed(0)
    given = {**SIZES, **({} if kind == "gpt_neox" else GROUPED), **more}
    model: nn.Module = AutoModelForCausalLM.from_config(AutoConfig.for_model(kind, **given)).eval()
    return model


def logits(model: nn.Module, **more: Any) -> Tensor:
    words = torch.randint(1, 60, (2, 23), generator=torch.Generator().manual_seed(1))
    out: Tensor = model(words, **more).logits
    return out


#: Rotated halves and neighbours, all columns and some, and with a factor on cosines and sines.
KINDS: dict[str, dict[str, Any]] = {
    "llama": {},
    "mistral": {},
    "qwen3": {"head_dim": 16},
    "gpt_neox": {},
    "phi": {},
    "stablelm": {},
    "cohere": {},
    "glm": {"head_dim": 16},
    "olmo2": {},
}


@pytest.mark.parametrize("kind", KINDS)
def test_logits_and_gradients_stay_and_the_model_is_put_back(kind: str) -> None:
    model = tiny(kind, **KINDS[kind])
    mask = torch.ones(2, 23, dtype=torch.int64)
    mask[1, :7] = 0
    before = logits(model, attention_mask=mask)
    before.square().sum().backward()
    learnt = [parameter for parameter in model.parameters() if parameter.grad is not None]
    slopes = [parameter.grad.clone() for parameter in learnt if parameter.grad is not None]
    model.zero_grad()
    with fast_rotary(model) as replaced:
        after = logits(model, attention_mask=mask)
        after.square().sum().backward()
        assert replaced.encoding.head_dim == model.config.hidden_size // 4  # type: ignore[union-attr, operator]
    torch.testing.assert_close(after, before, atol=2e-5, rtol=1e-5)
    assert not torch.equal(after, before)  # something else did the arithmetic
    for parameter, slope in zip(learnt, slopes, strict=True):
        assert parameter.grad is not None
        assert (parameter.grad - slope).abs().max() <= 1e-4 * slope.abs().max() + 1e-6
    torch.testing.assert_close(logits(model, attention_mask=mask), before, atol=0, rtol=0)


def test_yarn_keeps_its_factor_on_cosines_and_sines() -> None:
    rope = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 64, "rope_theta": 1e4}
    model = tiny("llama", rope_parameters=rope)
    before = logits(model)
    with fast_rotary(model):
        torch.testing.assert_close(logits(model), before, atol=2e-5, rtol=1e-5)


@torch.no_grad()
def test_the_rotation_of_half_precision_is_nearer_to_the_truth() -> None:
    config = AutoConfig.for_model("llama", **SIZES, **GROUPED)
    model = AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16)
    q, k = (torch.randn(2, heads, 200, 16, generator=torch.Generator().manual_seed(2)).bfloat16() for heads in (4, 2))
    positions = torch.arange(200)[None]
    rotary = model.model.rotary_emb
    tables = (table.double() for table in rotary(q.float(), positions))
    exact = modeling_llama.apply_rotary_pos_emb(q.double(), k.double(), *tables)

    def errors() -> list[float]:
        tables = model.model.rotary_emb(q, positions)
        turned = modeling_llama.apply_rotary_pos_emb(q, k, *tables)
        assert {part.dtype for part in turned} == {torch.bfloat16}
        return [float((got - want).abs().max()) for got, want in zip(turned, exact, strict=True)]

    theirs = errors()
    with fast_rotary(model):
        ours = errors()
    assert max(ours) <= 0.0157
    assert max(theirs) > 1.5 * max(ours)


def test_a_model_that_was_not_passed_keeps_its_own_numbers() -> None:
    first, second = tiny("llama"), tiny("llama", rope_parameters={"rope_theta": 500.0, "rope_type": "default"})
    before = logits(second)
    with fast_rotary(first):
        torch.testing.assert_close(logits(second), before, atol=2e-5, rtol=1e-5)


def test_the_function_stays_until_the_last_model_is_put_back() -> None:
    original = modeling_llama.apply_rotary_pos_emb
    first, second = fast_rotary(tiny("llama")), fast_rotary(tiny("llama"))
    fast = modeling_llama.apply_rotary_pos_emb
    assert fast is not original
    first.remove()
    first.remove()
    assert modeling_llama.apply_rotary_pos_emb is fast
    second.remove()
    assert modeling_llama.apply_rotary_pos_emb is original


def test_a_model_is_made_fast_once() -> None:
    model = tiny("llama")
    with fast_rotary(model), pytest.raises(GnomonError, match=r"fast already; call remove\(\)"):
        fast_rotary(model)


@torch.no_grad()
def test_copies_work_with_and_without_the_fast_function() -> None:
    model = AutoModelForCausalLM.from_config(AutoConfig.for_model("llama", **SIZES, **GROUPED), dtype=torch.bfloat16)
    replaced = fast_rotary(model)
    copied, fast = copy.deepcopy(model), logits(model)
    torch.testing.assert_close(logits(copied), fast, atol=0, rtol=0)
    replaced.remove()
    torch.testing.assert_close(logits(copied), logits(model), atol=0.05, rtol=0.05)


def test_an_export_asks_to_put_the_rotation_back(tmp_path: Path) -> None:
    model = tiny("llama")
    with fast_rotary(model), pytest.raises(GnomonError, match=r"call remove\(\) first"):
        gnomon.export(model, tmp_path / "model.onnx")
    assert list(tmp_path.iterdir()) == []


def lying() -> nn.Module:
    model = tiny("llama")
    model.config.rope_parameters["rope_theta"] = 500.0  # type: ignore[union-attr, index, operator]
    return model


def halved() -> nn.Module:
    """Its inverse frequencies are a buffer, and are rounded with the weights."""
    return tiny("llama").bfloat16()


REFUSED: dict[str, tuple[Callable[[], nn.Module], str]] = {
    "learned positions": (lambda: tiny("gpt2", n_positions=64), "has 0"),
    "frequencies by length": (
        lambda: tiny("llama", rope_parameters={"rope_type": "dynamic", "factor": 4.0, "rope_theta": 1e4}),
        "does not depend on the length",
    ),
    "layers that differ": (lambda: tiny("gemma3_text", head_dim=16), "one module rotary_emb"),
    "no transformers model": (lambda: nn.Linear(2, 2), "takes a model of transformers, got Linear"),
    "on meta": (lambda: tiny("llama").to("meta"), "meta device"),
    "another config": (lying, "differs by"),
    "frequencies in half precision": (halved, r"rounded to torch\.bfloat16"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_replaced_is_refused_and_nothing_changes(case: str) -> None:
    build, words = REFUSED[case]
    model, function = build(), modeling_llama.apply_rotary_pos_emb
    modules = list(model.modules())
    with pytest.raises(GnomonError, match=words):
        fast_rotary(model)
    assert modeling_llama.apply_rotary_pos_emb is function
    assert list(model.modules()) == modules
