"""Rotary parameters in every form that Hugging Face has written them, read into the same claims."""

from typing import Any

import pytest

from gnomon.adapters.families import claims_of
from tests.helpers.claimed import one_claim, plain_frequencies, tables_of
from tests.helpers.tiny_transformers import HEADS, WIDTH, tiny_fields, tiny_model

HEAD = {"hidden_size": 64, "num_attention_heads": 4, "max_position_embeddings": 99}
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 2048}


VERSIONS = [
    pytest.param({"rope_theta": 5e5}, {"rope_parameters": {"rope_theta": 5e5, "rope_type": "default"}}, id="plain"),
    pytest.param(
        {"rope_theta": 5e5, "rope_scaling": {"type": "linear", "factor": 2.0}},
        {"rope_parameters": {"rope_theta": 5e5, "rope_type": "linear", "factor": 2.0}},
        id="linear, the oldest name",
    ),
    pytest.param(
        {"rope_theta": 5e5, "rope_scaling": {"rope_type": "linear", "factor": 2.0}},
        {"rope_parameters": {"rope_theta": 5e5, "rope_type": "linear", "type": "linear", "factor": 2.0}},
        id="linear, both names",
    ),
    pytest.param(
        {"rope_theta": 5e5, "rope_scaling": YARN}, {"rope_parameters": {**YARN, "rope_theta": 5e5}}, id="yarn"
    ),
    pytest.param({"rope_theta": 5e5, "rope_scaling": None}, {"rope_parameters": {"rope_theta": 5e5}}, id="null"),
    pytest.param({}, {"rope_parameters": {"rope_theta": 1e4, "rope_type": "default"}}, id="nothing"),
]


@pytest.mark.parametrize(("old", "new"), VERSIONS)
def test_version_4_and_version_5_configs_give_the_same_claims(old: dict[str, Any], new: dict[str, Any]) -> None:
    before, after = (one_claim({"model_type": "llama", **HEAD, **rope}) for rope in (old, new))
    assert before.options == after.options
    assert (before.kind, before.where) == (after.kind, after.where)


def test_frequencies_come_with_the_keys_that_decided_them() -> None:
    scaling = {"type": "linear", "factor": 2.0}
    claim = one_claim({"model_type": "llama", **HEAD, "rope_theta": 5e5, "rope_scaling": scaling})
    assert claim.options["frequencies"] == {"kind": "linear", "base": 5e5, "factor": 2.0}
    assert claim.keys["frequencies"] == "rope_scaling.type"
    assert claim.keys["frequencies.base"] == "rope_theta"
    assert claim.keys["frequencies.factor"] == "rope_scaling.factor"
    assert claim.keys["head_dim"] == "hidden_size // num_attention_heads"
    assert claim.keys["rotary_dim"] == "default"


def test_linear_frequencies_are_those_of_transformers() -> None:
    scaling = {"rope_type": "linear", "factor": 3.0, "rope_theta": 777.0}
    model: Any = tiny_model("llama", rope_parameters=scaling)
    frequencies = one_claim({**tiny_fields("llama"), "rope_parameters": scaling}).options["frequencies"]
    expected = [w / frequencies["factor"] for w in plain_frequencies(frequencies["base"], WIDTH // HEADS)]
    assert model.rotary_emb.inv_freq.tolist() == pytest.approx(expected, rel=1e-5)


def test_kinds_that_are_not_built_keep_their_options_and_say_so() -> None:
    scaling = {"rope_type": "ntk_alpha", "factor": 4.0, "alpha": 3}
    claim = one_claim({"model_type": "llama", **HEAD, "rope_theta": 5e5, "rope_scaling": scaling})
    assert claim.options["frequencies"] == {"kind": "ntk_alpha", "base": 5e5, "factor": 4.0, "alpha": 3}
    assert claim.keys["note"] == "gnomon does not build ntk_alpha frequencies yet"


def test_a_key_of_another_stack_is_noted_and_not_applied() -> None:
    scaling = {"rope_type": "dynamic", "factor": 4.0, "alpha": 3}
    claim = one_claim({"model_type": "llama", **HEAD, "rope_theta": 5e5, "rope_scaling": scaling})
    expected = {"kind": "dynamic", "base": 5e5, "factor": 4.0, "original_max_length": 99}
    assert claim.options["frequencies"] == expected
    assert claim.keys["frequencies.original_max_length"] == "max_position_embeddings"
    assert claim.keys["note"] == "transformers does not read alpha, and neither does gnomon"


def test_an_original_length_beside_the_parameters_wins_and_the_maximum_stands_in() -> None:
    base = {"model_type": "phi3", **HEAD, "rope_scaling": {"type": "su", "short_factor": [1.0], "long_factor": [2.0]}}
    key = "original_max_position_embeddings"
    given = one_claim({**base, key: 4096})
    assert given.options["frequencies"]["kind"] == "longrope"
    assert given.options["frequencies"]["original_max_length"] == 4096
    assert given.keys["frequencies.original_max_length"] == key
    assert one_claim(base).options["frequencies"]["original_max_length"] == 99


def test_a_family_that_rotates_whole_heads_ignores_a_partial_factor_as_transformers_does() -> None:
    fields = {"rope_theta": 1e4, "rope_type": "default", "partial_rotary_factor": 0.5}
    model: Any = tiny_model("llama", rope_parameters=fields)
    claim = one_claim({**tiny_fields("llama"), "rope_parameters": fields})
    assert claim.options["rotary_dim"] == 2 * model.rotary_emb.inv_freq.numel() == 8


@pytest.mark.parametrize(
    ("written", "key"),
    [
        ({"rotary_pct": 0.25}, "rotary_pct"),
        ({"rope_pct": 0.25}, "rope_pct"),
        ({"partial_rotary_factor": 0.25}, "partial_rotary_factor"),
        ({"rope_parameters": {"partial_rotary_factor": 0.25}}, "rope_parameters.partial_rotary_factor"),
    ],
)
def test_a_partial_rotation_goes_by_many_names(written: dict[str, Any], key: str) -> None:
    claim = one_claim({"model_type": "phi", **HEAD, **written})
    assert (claim.options["head_dim"], claim.options["rotary_dim"]) == (16, 4)
    assert claim.keys["rotary_dim"] == key


GEMMA = {"head_dim": 8, "layer_types": ["sliding_attention", "full_attention"]}
GEMMA_OLD = {"rope_theta": 1e6, "rope_local_base_freq": 2e4, "rope_scaling": {"rope_type": "linear", "factor": 8.0}}
GEMMA_NEW = {
    "full_attention": {"rope_theta": 1e6, "rope_type": "linear", "factor": 8.0},
    "sliding_attention": {"rope_theta": 2e4, "rope_type": "default"},
}


@pytest.mark.parametrize("rope", [GEMMA_OLD, {"rope_parameters": GEMMA_NEW}], ids=["version 4", "version 5"])
def test_gemma_3_has_one_rotation_for_each_kind_of_layer(rope: dict[str, Any]) -> None:
    claims = {claim.where: claim for claim in claims_of({"model_type": "gemma3_text", **HEAD, **GEMMA, **rope})}
    assert claims["full_attention"].options["frequencies"] == {"kind": "linear", "base": 1e6, "factor": 8.0}
    assert claims["sliding_attention"].options["frequencies"] == {"kind": "plain", "base": 2e4}


def test_gemma_3_numbers_are_those_of_transformers_for_both_kinds() -> None:
    model = tiny_model("gemma3_text", **GEMMA, **GEMMA_OLD)
    for claim in claims_of({**tiny_fields("gemma3_text"), **GEMMA, **GEMMA_OLD}):
        frequencies = claim.options["frequencies"]
        expected = [w / frequencies.get("factor", 1.0) for w in plain_frequencies(frequencies["base"], 8)]
        [table] = tables_of(model, claim).values()
        assert table.tolist() == pytest.approx(expected, rel=1e-5)


def test_nested_parameters_of_a_flat_family_give_a_claim_each_and_null_means_no_rotation() -> None:
    kinds = ["full_attention", "sliding_attention"]
    nested = {"full_attention": None, "sliding_attention": {"rope_theta": 50.0, "rope_type": "default"}}
    claims = claims_of({"model_type": "llama", **HEAD, "layer_types": kinds, "rope_parameters": nested})
    assert [(claim.kind, claim.where) for claim in claims] == [("nope", kinds[0]), ("rotary", kinds[1])]
    assert claims[1].options["frequencies"] == {"kind": "plain", "base": 50.0}
    assert claims[1].keys["frequencies.base"] == "rope_parameters.sliding_attention.rope_theta"


def test_a_single_kind_with_a_base_of_its_own_still_reads_the_flat_block_of_version_5() -> None:
    """Cohere 2: one block for all layers, of which the full ones do not turn."""
    config = {"model_type": "cohere2", "rope_parameters": {"rope_theta": 50_000.0, "rope_type": "default"}}
    (turning,) = (claim for claim in claims_of(config) if claim.kind == "rotary")
    assert turning.options["frequencies"]["base"] == 50_000.0
    assert turning.keys["frequencies.base"] == "rope_parameters.rope_theta"
