"""PE318: which distances share a number, against T5's published rule."""

from typing import Any

import pytest
import torch

from gnomon.adapters.claims import Claim
from tests.helpers.healthy import FOREIGN, MODELS
from tests.helpers.tiny_transformers import tiny_model
from tests.helpers.toys import examine, only_finding


def claimed(count: int = 32, farthest: int = 128, direction: str = "causal") -> Claim:
    return Claim("t5", "layers.*.attention", {"num_buckets": count, "max_distance": farthest, "direction": direction})


@pytest.mark.parametrize("family", ["t5", "umt5", "mt5"])
def test_families_pass(family: str) -> None:
    result = examine("PE318", tiny_model(family))
    assert result.status == "passed", (result.detail, result.findings)


@pytest.mark.parametrize("name", ["decoder, t5", "encoder, t5", "decoder, t5 causal"])
def test_gnomon_s_own_passes(name: str) -> None:
    assert examine("PE318", MODELS[name]()).status == "passed"


@pytest.mark.parametrize(("told", "right"), [((32, 100), "max_distance=100"), ((16, 128), "num_buckets=16")])
def test_another_size_than_the_config_s_is_found(told: tuple[int, int], right: str) -> None:
    model = MODELS["decoder, t5 causal"]()
    assert examine("PE318", model, claims=(claimed(),)).status == "passed"
    finding = only_finding(examine("PE318", model, claims=(claimed(*told),)))
    assert right in finding.fix
    assert finding.measured["misplaced"] > 0


def test_two_way_buckets_in_a_decoder_are_found() -> None:
    model: Any = tiny_model("t5")
    for block in model.decoder.block:
        block.layer[0].SelfAttention.is_decoder = False
    for module in model.modules():
        if hasattr(module, "relative_attention_bias"):
            torch.nn.init.normal_(module.relative_attention_bias.weight)
    finding = examine("PE318", model).findings[0]
    assert finding.where.startswith("decoder.block")
    # the two-way rule shares from distance 8 on, the causal one from 16 on
    assert finding.measured["first"] == [-8, -9]
    assert "bidirectional=False" in finding.fix


def test_a_layer_that_uses_the_table_of_another_is_found() -> None:
    model: Any = tiny_model("umt5")
    first, second = (block.layer[0].SelfAttention for block in model.decoder.block)
    second.compute_bias = first.compute_bias
    finding = only_finding(examine("PE318", model))
    assert finding.where == "decoder.block.1.layer.0.SelfAttention"
    assert finding.measured["table"] == "decoder.block.1.layer.0.SelfAttention.relative_attention_bias"


def test_sizes_that_no_rule_can_have_are_not_judged() -> None:
    assert examine("PE318", MODELS["decoder, t5 causal"](), claims=(claimed(farthest=3),)).status == "not-applicable"


def test_without_buckets_it_is_not_judged() -> None:
    assert examine("PE318", FOREIGN["bloom"]()).detail == "the config claims no t5 encoding"
