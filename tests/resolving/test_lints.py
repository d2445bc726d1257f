"""Faults of the file itself: every lint that a resolution promises is a check of the doctor's, and is joined in."""

from typing import Any

import pytest

from gnomon.report.document import CheckResult
from gnomon.resolving.given import Given
from gnomon.resolving.lints import _lints, lints_of

QWEN3 = {
    "architectures": ["Qwen3ForCausalLM"],
    "model_type": "qwen3",
    "hidden_size": 4096,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "num_hidden_layers": 36,
    "max_position_embeddings": 131072,
    "vocab_size": 151936,
}
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768}


@pytest.mark.parametrize(
    ("config", "code", "severity", "message"),
    [
        ({"rope_scaling": YARN}, "PE107", "warning", "the yarn block has lost it"),  # a lost base
        ({"rope_parameters": {**YARN, "rope_theta": None}}, "PE107", "warning", "the yarn block has lost it"),
        (
            {"rope_theta": 1e4, "rope_parameters": {**YARN, "rope_theta": 1e6}},
            "PE101",
            "error",
            "rope_theta says 10000",
        ),
        ({"rope_theta": 1e6, "rope_scaling": {**YARN, "type": "linear"}}, "PE101", "error", "rope_type says 'yarn'"),
        (
            {"rope_theta": 1e6, "original_max_position_embeddings": 4096, "rope_scaling": YARN},
            *("PE101", "error", "rope_scaling.original_max_position_embeddings says 32768"),
        ),
        ({"rope_theta": 1e6, "rope_scaling": {**YARN, "attn_factor": 2.0}}, "PE106", "warning", "attn_factor is 2.0"),
        (
            {"rope_theta": 1e6, "rope_scaling": {**YARN, "foo": 3}},
            "PE106",
            "note",
            "nothing that gnomon knows reads foo",
        ),
        (
            {"rope_theta": 1e6, "rope_scaling": {"rope_type": "default", "factor": 4.0}},
            "PE106",
            "warning",
            "is default",
        ),
        (
            {"rope_theta": 1e6, "rope_scaling": YARN, "max_position_embeddings": 40960},
            *("PE102", "warning", "original_max_position_embeddings is 1.25"),
        ),
    ],
)
def test_the_lints_of_a_file(config: dict[str, Any], code: str, severity: str, message: str) -> None:
    [lint] = lints_of(Given("c", config={**QWEN3, **config}))
    assert (lint.code, lint.severity) == (code, severity)
    assert message in lint.message
    assert lint.fix


def test_a_file_without_fault_has_none_in_either_spelling() -> None:
    for rotary in ({"rope_theta": 1e6, "rope_scaling": YARN}, {"rope_parameters": {**YARN, "rope_theta": 1e6}}):
        assert lints_of(Given("c", config={**QWEN3, **rotary})) == ()


def test_the_worst_stand_first_and_a_tokenizer_is_looked_at() -> None:
    block = {**YARN, "foo": 1, "type": "linear"}
    found = lints_of(Given("c", config={**QWEN3, "rope_theta": 1e6, "rope_scaling": block}))
    assert [lint.severity for lint in found] == ["error", "note"]
    learned = {"model_type": "bert", "max_position_embeddings": 512, "hidden_size": 64, "num_attention_heads": 4}
    found = lints_of(Given("c", config=learned, tokenizer={"model_max_length": 1024}))
    assert [lint.code for lint in found] == ["PE104"]


def test_the_metadata_of_a_gguf_file_is_looked_at_as_the_config_it_stands_for() -> None:
    metadata = {
        "general.architecture": "qwen2",
        "qwen2.context_length": 32768,
        "qwen2.rope.freq_base": 1e6,
        "qwen2.rope.scaling.type": "yarn",
        "qwen2.rope.scaling.factor": 4.0,
        "qwen2.rope.scaling.original_context_length": 32768,
        "qwen2.attention.head_count": [8, 8],
    }
    assert "PE102" in [lint.code for lint in lints_of(Given("g", metadata=metadata))]


def test_a_check_that_broke_is_told_and_not_passed_over() -> None:
    [lint] = _lints(CheckResult("PE101", "rope-spellings-disagree", "error", "crashed", detail="Traceback"))
    assert (lint.code, lint.severity) == ("PE101", "note")
    assert "the check itself broke" in lint.message
