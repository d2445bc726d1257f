"""Scaled rotary frequencies as configs state them, against the tables and factors of the models transformers builds."""

from copy import deepcopy
from typing import Any
from unittest import mock

import pytest
from transformers import AutoConfig, modeling_rope_utils
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding

from gnomon.encodings.frequencies import Frequencies, build_frequencies
from tests.helpers.claimed import one_claim, tables_of
from tests.helpers.tiny_transformers import tiny_fields, tiny_model

SIZES = {"model_type": "llama", "hidden_size": 64, "num_attention_heads": 2, "max_position_embeddings": 256}
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 64}
LLAMA3 = {"rope_type": "llama3", "factor": 4.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
LONGROPE = {
    "rope_type": "longrope",
    "short_factor": [1.0 + i / 10 for i in range(16)],
    "long_factor": [1.0 + i for i in range(16)],
}


def _read(fields: dict[str, Any]) -> Frequencies:
    return build_frequencies(one_claim(fields).options["frequencies"])


@pytest.mark.parametrize(
    "rope",
    [
        pytest.param({"rope_scaling": YARN}, id="yarn"),
        pytest.param({"rope_scaling": {**YARN, "rope_theta": 5e5, "truncate": False}}, id="yarn, not truncated"),
        pytest.param({"rope_scaling": {**YARN, "beta_fast": 8, "beta_slow": 2}}, id="yarn, betas"),
        pytest.param({"rope_scaling": {**YARN, "attention_factor": 1.3}}, id="yarn, attention factor"),
        pytest.param({"rope_scaling": {**YARN, "mscale": 0.7, "mscale_all_dim": 1.0}}, id="yarn, mscale pair"),
        pytest.param({"rope_scaling": {**YARN, "mscale": 0.7}}, id="yarn, mscale alone"),
        pytest.param({"rope_scaling": {**YARN, "mscale": 0.7, "mscale_all_dim": 0}}, id="yarn, mscale_all_dim zero"),
        pytest.param({"rope_scaling": {**YARN, "attn_factor": 1.3}}, id="yarn, attn_factor is not read"),
        pytest.param({"rope_scaling": {**YARN, "factor": None}}, id="yarn, factor null"),
        pytest.param(
            {"rope_scaling": {**YARN, "factor": None}, "original_max_position_embeddings": 32},
            id="yarn, factor null, length at config level",
        ),
        pytest.param({"rope_scaling": YARN, "original_max_position_embeddings": 32}, id="yarn, length at config level"),
        pytest.param({"rope_scaling": {"type": "yarn", "factor": 4.0}}, id="yarn, the old key, no length"),
        pytest.param({"rope_scaling": {**YARN, "partial_rotary_factor": 0.5}}, id="yarn, partial"),
        pytest.param(
            {"rope_scaling": {**LLAMA3, "original_max_position_embeddings": 64}, "rope_theta": 5e5}, id="llama3"
        ),
        pytest.param({"rope_scaling": LLAMA3, "original_max_position_embeddings": 100}, id="llama3, length outside"),
        pytest.param({"rope_parameters": {**LLAMA3, "rope_theta": 77.0}}, id="llama3, the maximum stands in"),
        pytest.param(
            {"rope_parameters": {"rope_type": "proportional", "rope_theta": 1e6, "partial_rotary_factor": 0.25}},
            id="proportional",
        ),
        pytest.param(
            {"rope_parameters": {"rope_type": "proportional", "factor": 8.0}, "partial_rotary_factor": 0.5},
            id="proportional, fraction outside",
        ),
        pytest.param({"rope_parameters": {"rope_type": "proportional"}}, id="proportional, nothing given"),
        pytest.param({"rope_scaling": {"rope_type": "dynamic", "factor": 4.0}, "rope_theta": 5e5}, id="dynamic"),
        pytest.param({"rope_scaling": LONGROPE, "original_max_position_embeddings": 64}, id="longrope"),
        pytest.param(
            {"rope_scaling": {**LONGROPE, "factor": 8.0, "original_max_position_embeddings": 64}}, id="su, factor"
        ),
        pytest.param({"rope_scaling": {**LONGROPE, "attention_factor": 1.3}}, id="longrope, attention factor"),
        pytest.param({"rope_scaling": {**LONGROPE}}, id="longrope, no length"),
    ],
)
def test_claims_give_the_table_and_factor_of_the_module(rope: dict[str, Any]) -> None:
    with mock.patch.object(modeling_rope_utils, "logger"):
        config = AutoConfig.for_model(**deepcopy(SIZES | rope))  # it fills in the mappings it is given
        module: Any = LlamaRotaryEmbedding(config)
    claim = one_claim(SIZES | rope)
    ours = build_frequencies(claim.options["frequencies"])
    assert ours.inverse(claim.options["rotary_dim"]).tolist() == pytest.approx(module.inv_freq.tolist(), rel=3e-6)
    assert ours.attention_factor == pytest.approx(module.attention_scaling, rel=1e-12)
    assert "note" not in claim.keys or "attn_factor" in rope["rope_scaling"]
    again = one_claim(config.to_dict())  # as transformers 5 writes it back
    assert build_frequencies(again.options["frequencies"]) == ours
    assert set(claim.options["frequencies"]) == {"kind"} | {
        key.removeprefix("frequencies.") for key in claim.keys if key.startswith("frequencies.")
    }


@pytest.mark.parametrize("written", [True, False], ids=["as written back", "bare"])
def test_gpt_oss_scales_by_default(written: bool) -> None:
    model: Any = tiny_model("gpt_oss")
    claim = one_claim(model.config.to_dict() if written else tiny_fields("gpt_oss"))
    ours = build_frequencies(claim.options["frequencies"])
    [table] = (t for n, t in tables_of(model, claim).items() if n.endswith("inv_freq"))
    assert ours.inverse(claim.options["rotary_dim"]).tolist() == pytest.approx(table.tolist(), rel=3e-6)
    assert ours.attention_factor == pytest.approx(model.rotary_emb.attention_scaling)
    assert (ours.options["factor"], ours.options["truncate"]) == (32.0, False)


def test_options_have_gnomons_names_and_the_keys_that_gave_them() -> None:
    outside = {"original_max_position_embeddings": 64}
    claim = one_claim(SIZES | {"rope_theta": 5e5, "rope_scaling": {**LLAMA3, "factor": 2}, **outside})
    assert claim.options["frequencies"] == {
        "kind": "llama3",
        "base": 5e5,
        "factor": 2,
        "original_max_length": 64,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
    }
    assert claim.keys["frequencies"] == "rope_scaling.rope_type"
    assert claim.keys["frequencies.base"] == "rope_theta"
    assert claim.keys["frequencies.original_max_length"] == "original_max_position_embeddings"
    assert claim.keys["frequencies.low_freq_factor"] == "rope_scaling.low_freq_factor"


def test_a_factor_of_null_is_the_ratio_of_the_lengths_and_says_so() -> None:
    claim = one_claim(SIZES | {"rope_scaling": {**YARN, "factor": None}})
    assert claim.options["frequencies"]["factor"] == 4.0
    ratio = "max_position_embeddings / rope_scaling.original_max_position_embeddings"
    assert claim.keys["frequencies.factor"] == ratio


def test_the_fraction_of_a_proportional_rule_does_not_narrow_the_rotated_width() -> None:
    fields = {"rope_type": "proportional", "partial_rotary_factor": 0.25}
    for model_type in ("llama", "glm"):
        claim = one_claim({**SIZES, "model_type": model_type, "head_dim": 32, "rope_parameters": fields})
        assert (claim.options["rotary_dim"], claim.options["frequencies"]["fraction"]) == (32, 0.25)
        assert claim.keys["frequencies.fraction"] == "rope_parameters.partial_rotary_factor"


def test_the_multipliers_of_other_stacks_are_noted_and_not_applied() -> None:
    claim = one_claim(SIZES | {"rope_scaling": {**YARN, "attn_factor": 1.3, "extrapolation_factor": 1}})
    assert (
        claim.keys["note"] == "transformers does not read attn_factor and extrapolation_factor, and neither does gnomon"
    )
    assert _read(SIZES | {"rope_scaling": {**YARN, "attn_factor": 1.3}}) == _read(SIZES | {"rope_scaling": YARN})
