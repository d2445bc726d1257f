"""PE223: copies of frequencies that should be equal."""

from typing import Any

import pytest
import torch
from torch import Tensor

from gnomon.doctor import run
from tests.helpers.subjects import holding, rotary_claim
from tests.helpers.tiny_transformers import tiny_model
from tests.helpers.toys import examine, llama, only_finding

NAME = "model.layers.{}.self_attn.rotary_emb.inv_freq"


def frequencies(base: float = 1e4) -> Tensor:
    return base ** (-torch.arange(4, dtype=torch.float64) / 4)


def test_equal_layers_pass_and_one_of_another_base_is_found() -> None:
    layers = {NAME.format(i): frequencies() for i in range(3)}
    assert run("PE223", holding(layers)).status == "passed"
    finding = only_finding(run("PE223", holding(layers | {NAME.format(2): frequencies(1e6)})))
    assert finding.where == NAME.format(2)


def test_layers_of_several_kinds_may_differ() -> None:
    layers = {NAME.format(0): frequencies(), NAME.format(1): frequencies(1e6)}
    claims = (rotary_claim(8), rotary_claim(8, base=1e6))
    assert run("PE223", holding(layers, claims=claims, config={})).status == "not-applicable"
    kinds = {"layer_types": ["sliding_attention", "full_attention"]}
    assert run("PE223", holding(layers, config=kinds)).status == "not-applicable"


def test_the_original_beside_the_one_in_use_is_compared() -> None:
    model: Any = llama()
    assert examine("PE223", model).status == "passed"
    model.model.rotary_emb.inv_freq.mul_(1.01)
    finding = only_finding(examine("PE223", model))
    assert finding.measured["difference"] == pytest.approx(0.01, rel=0.02)


def test_a_cast_of_one_copy_is_found() -> None:
    model: Any = llama()
    model.model.rotary_emb.inv_freq = model.model.rotary_emb.inv_freq.bfloat16()
    assert examine("PE223", model).status == "failed"


def test_a_rule_that_changes_with_the_length_may_differ() -> None:
    model: Any = llama(rope_parameters={"rope_type": "dynamic", "rope_theta": 1e4, "factor": 2.0})
    model.model.rotary_emb.inv_freq.mul_(0.9)
    assert examine("PE223", model).status == "not-applicable"


@pytest.mark.parametrize("model_type", ["llama", "gemma3_text", "gpt_neox", "qwen2_vl", "modernbert", "phi3"])
def test_released_models_pass(model_type: str) -> None:
    result = examine("PE223", tiny_model(model_type))
    assert result.status in ("passed", "not-applicable"), result.findings


def test_without_frequencies_there_is_nothing_to_compare() -> None:
    assert examine("PE223", tiny_model("bert")).status == "not-applicable"
