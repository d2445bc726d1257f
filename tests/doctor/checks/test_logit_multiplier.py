"""PE314: what logits are multiplied by in all, against the scaling rule."""

import math
from typing import Any

import pytest

from tests.helpers.healthy import FOREIGN
from tests.helpers.tiny_transformers import tiny_model
from tests.helpers.toys import Toy, examine, llama, only_finding

YARN = {"rope_type": "yarn", "rope_theta": 1e4, "factor": 8.0, "original_max_position_embeddings": 64}
TWICE = (0.1 * math.log(8) + 1) ** 2
PAIR = YARN | {"factor": 40.0, "mscale": 1.0, "mscale_all_dim": 1.0}


def scaled() -> Any:
    return llama(max_position_embeddings=512, rope_parameters=YARN)


def latent() -> Any:
    return tiny_model("deepseek_v3", max_position_embeddings=2560, rope_parameters=PAIR)


def test_yarn_multiplies_by_the_square_of_its_factor_once() -> None:
    result = examine("PE314", scaled())
    assert result.status == "passed", (result.detail, result.findings)
    assert float(result.measured[0].value) == pytest.approx(1.4591, abs=1e-3)


def test_a_factor_on_tables_and_softmax_is_found() -> None:
    model = scaled()
    for layer in model.model.layers:
        layer.self_attn.scaling *= TWICE
    finding = only_finding(examine("PE314", model))
    assert finding.where == "model.layers.*.self_attn"
    assert finding.measured["total"] == pytest.approx(TWICE**2, rel=1e-3)
    assert finding.measured["expected"] == pytest.approx(TWICE, rel=1e-6)


def test_a_factor_in_neither_place_is_found() -> None:
    model = scaled()
    model.model.rotary_emb.attention_scaling = 1.0
    assert only_finding(examine("PE314", model)).measured["total"] == pytest.approx(1, rel=1e-3)


def test_latent_attention_has_its_share_in_the_softmax() -> None:
    result = examine("PE314", latent())
    assert result.status == "passed", (result.detail, result.findings)
    assert float(result.measured[0].value) == pytest.approx(1.87385, abs=1e-4)
    model = latent()
    for layer in model.layers:
        layer.self_attn.scaling = layer.self_attn.qk_head_dim**-0.5
    assert only_finding(examine("PE314", model)).measured["total"] == pytest.approx(1, rel=1e-3)


@pytest.mark.parametrize("model", [FOREIGN["llama"], Toy])
def test_without_a_rule_with_a_factor_it_is_not_judged(model: Any) -> None:
    assert examine("PE314", model()).status == "not-applicable"
