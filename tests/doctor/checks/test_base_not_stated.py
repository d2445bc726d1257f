"""PE107: bases and shares that a file leaves to its reader."""

from typing import Any

import pytest

from gnomon.adapters.checkpoints.huggingface import config_evidence
from gnomon.adapters.families import BY_MODEL_TYPE, claims_of
from gnomon.adapters.families.published import CODE_BASES, CODE_SHARES
from gnomon.adapters.subject import Subject
from gnomon.doctor import run
from gnomon.report.document import CheckResult

BY_TRANSFORMERS = {"architectures": ["X"]}


def judge(**config: Any) -> CheckResult:
    return run("PE107", Subject("config", **config_evidence(config)))


def test_a_base_that_the_family_alone_knows_is_named() -> None:
    result = judge(model_type="smollm3")
    [finding] = result.findings
    assert finding.fix == "write rope_theta: 2e+06"
    assert (result.severity, finding.measured["base"]) == ("warning", 2e6)


def test_in_a_file_of_transformers_it_is_a_note() -> None:
    assert judge(model_type="smollm3", **BY_TRANSFORMERS).severity == "note"


def test_a_base_that_the_code_does_not_know_either_stays_a_warning() -> None:
    result = judge(model_type="llama", vocab_size=128_256, **BY_TRANSFORMERS)
    assert result.severity == "warning"
    assert "readers take 10000, Llama 3 has 500000" in result.findings[0].message


def test_a_block_that_lost_the_base_is_named() -> None:
    block = {"rope_type": "linear", "factor": 2.0}
    [finding] = judge(model_type="llama", vocab_size=128_256, rope_scaling=block).findings
    assert finding.message.endswith("; the linear block has lost it")
    assert judge(model_type="llama", rope_scaling=block).severity == "note", "10,000 may be meant"


@pytest.mark.parametrize(
    "stated",
    [
        {"rope_theta": 5e5},
        {"rope_parameters": {"rope_theta": 5e5}},
        {"rope_scaling": {"type": "linear", "factor": 2, "rope_theta": 5e5}},
        {"rope_parameters": {"full_attention": {"rope_theta": 5e5}}},
        {"rotary_emb_base": 5e5},
    ],
)
def test_a_base_under_any_name_is_stated(stated: dict[str, Any]) -> None:
    assert judge(model_type="llama", vocab_size=128_256, **stated).status == "passed"


@pytest.mark.parametrize("key", ["partial_rotary_factor", "rotary_pct", "rotary_dim"])
def test_a_share_is_asked_for_where_the_family_has_one(key: str) -> None:
    [finding] = judge(model_type="glm", rope_theta=1e4).findings
    assert finding.fix == "write partial_rotary_factor: 0.5"
    assert judge(model_type="glm", rope_theta=1e4, **{key: 4}).status == "passed"


def test_the_language_model_inside_is_judged_and_the_shell_is_not() -> None:
    result = judge(model_type="gemma3", text_config={"model_type": "gemma3_text"})
    assert [finding.where for finding in result.findings] == ["text_config"]


@pytest.mark.parametrize("config", [{"model_type": "bert"}, {"model_type": "bloom"}])
def test_models_without_rotation_are_not_applicable(config: dict[str, Any]) -> None:
    assert judge(**config).detail == "nothing in the config says that it rotates queries and keys"


@pytest.mark.parametrize(
    "config",
    [
        {"model_type": "nonesuch", "rope_theta": 1e4},
        {"model_type": "nonesuch", "rope_parameters": {"rope_type": "default"}},
        {"model_type": "llama"},
        {
            "model_type": "nonesuch",
            "text_config": {"model_type": "nonesuch", "rope_theta": 1e4},
            "vision_config": {"model_type": "nonesuch"},
        },
    ],
)
def test_one_sign_of_a_rotation_is_enough_to_judge(config: dict[str, Any]) -> None:
    assert judge(**config).status == "passed"


def test_without_a_model_type_it_is_not_applicable() -> None:
    assert judge(hidden_size=8).status == "not-applicable"


BASES = [(name, base) for base, names in CODE_BASES.items() for name in names]
SHARES = [(name, share) for share, names in CODE_SHARES.items() for name in names]


@pytest.mark.parametrize(("name", "base"), BASES)
def test_the_bases_are_those_of_the_code_of_transformers(name: str, base: float) -> None:
    from transformers import CONFIG_MAPPING

    config = CONFIG_MAPPING[name]()
    block = getattr(config, "text_config", config).rope_parameters
    assert block.get("full_attention", block)["rope_theta"] == base


@pytest.mark.parametrize(("name", "share"), SHARES)
def test_the_shares_are_those_of_the_code_of_transformers(name: str, share: float) -> None:
    from transformers import CONFIG_MAPPING

    assert CONFIG_MAPPING[name]().rope_parameters["partial_rotary_factor"] == share


@pytest.mark.parametrize(("name", "base"), [(name, base) for name, base in BASES if name in BY_MODEL_TYPE])
def test_the_rules_of_the_families_agree(name: str, base: float) -> None:
    claims = claims_of({"model_type": name})
    assert base in [claim.options["frequencies"]["base"] for claim in claims if "frequencies" in claim.options]
