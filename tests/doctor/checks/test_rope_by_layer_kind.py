"""PE112: rotary parameters for each kind of layer."""

from typing import Any

import pytest

from gnomon.adapters.subject import Subject
from gnomon.doctor import run
from gnomon.report.document import CheckResult
from tests.helpers.gallery_configs import gemma3_config
from tests.helpers.subjects import value

FULL, SLIDING = "full_attention", "sliding_attention"
PLAIN = {"rope_type": "default", "rope_theta": 1e4}
SCALED = {"rope_type": "linear", "factor": 8.0, "rope_theta": 1e6}


def judge(blocks: Any, **config: Any) -> CheckResult:
    fields = {"model_type": "gemma3_text", "layer_types": [SLIDING, FULL], "sliding_window": 512, **config}
    return run("PE112", Subject("config", config={**fields, "rope_parameters": blocks}))


def test_scaling_on_windowed_layers_is_an_error_in_a_family_without_it() -> None:
    result = judge({SLIDING: {**SCALED, "rope_theta": 1e4}, FULL: SCALED})
    [finding] = result.findings
    assert (result.severity, finding.where) == ("error", f"rope_parameters.{SLIDING}")
    assert "though they see 512 tokens" in finding.message
    assert f"move the scaling to rope_parameters.{FULL}" in finding.fix


def test_elsewhere_it_is_a_warning_and_only_where_full_layers_have_none() -> None:
    other = {"model_type": "nonesuch"}
    assert judge({SLIDING: SCALED, FULL: PLAIN}, **other).severity == "warning"
    assert judge({SLIDING: SCALED, FULL: SCALED}, **other).status == "passed", "gpt-oss scales both"


def test_a_kind_of_layer_without_parameters_is_an_error() -> None:
    [finding] = judge({FULL: SCALED}, layer_types=[SLIDING, SLIDING, FULL]).findings
    assert finding.message == f"{SLIDING} is the kind of 2 layers and has no rotary parameters"
    assert judge({FULL: SCALED, SLIDING: None}).status == "passed", "null: these do not rotate"


def test_blocks_that_no_layer_has_are_named() -> None:
    result = judge({SLIDING: PLAIN}, layer_types=["chunked_attention"])
    assert any(f"no layer is of kind {SLIDING}" in finding.message for finding in result.findings)


def test_blocks_named_by_a_familys_own_words_are_left_alone() -> None:
    blocks = {"main": PLAIN, "compress": SCALED}
    assert judge(blocks, layer_types=["compressed_sparse_attention"]).status == "passed"


@pytest.mark.parametrize("prefix", ["", "text_config."])
def test_the_published_gemma_3_passes_in_both_forms(prefix: str) -> None:
    old = gemma3_config()
    new = {FULL: SCALED, SLIDING: PLAIN}
    for config in (old, {**old, "rope_parameters": new, "rope_scaling": None}):
        result = run("PE112", Subject("config", config={"text_config": config} if prefix else config))
        assert (result.status, value(result, "kinds of layers with wrong parameters")) == ("passed", 0)


@pytest.mark.parametrize("config", [{}, {"rope_parameters": PLAIN}, {"rope_scaling": SCALED}])
def test_one_set_for_all_layers_is_not_applicable(config: dict[str, Any]) -> None:
    assert run("PE112", Subject("config", config=config)).status == "not-applicable"


def test_a_setting_beside_the_blocks_is_read_by_no_kind() -> None:
    result = judge({SLIDING: PLAIN, FULL: PLAIN, "factor": 8.0})
    [finding] = result.findings
    assert (result.severity, finding.where) == ("warning", "rope_parameters.factor")


def test_a_block_more_than_there_are_kinds_is_left_alone() -> None:
    assert judge({SLIDING: PLAIN, FULL: PLAIN}, layer_types=[FULL]).status == "passed", "defaults write both"


@pytest.mark.parametrize(
    ("config", "where"),
    [
        ({"rope_theta": 1e4, "rope_local_base_freq": 1e6}, "rope_local_base_freq"),
        ({"global_rope_theta": 1e4, "local_rope_theta": 1.6e5, "model_type": "modernbert"}, "local_rope_theta"),
    ],
)
def test_bases_of_the_two_kinds_that_are_exchanged_are_a_warning(config: dict[str, Any], where: str) -> None:
    result = judge(None, **config)
    [finding] = result.findings
    assert (result.severity, finding.where) == ("warning", where)
    assert "the two seem exchanged" in finding.message
    assert "base 10000 for windowed layers" in finding.fix


def test_bases_in_blocks_are_compared_too_and_the_published_ones_pass() -> None:
    full = {"rope_type": "default", "rope_theta": 1e6}
    [finding] = judge({SLIDING: full, FULL: PLAIN}).findings
    assert finding.where == f"rope_parameters.{SLIDING}.rope_theta"
    assert judge({SLIDING: PLAIN, FULL: full}).status == "passed"
    assert judge(None, rope_theta=1e6, rope_local_base_freq=1e4).status == "passed"
    assert judge({SLIDING: PLAIN, FULL: PLAIN}).status == "passed", "one base for all"
