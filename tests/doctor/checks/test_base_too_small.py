"""PE110: stated lengths that a base does not carry."""

from typing import Any

import pytest
import torch

from gnomon.adapters.subject import Subject
from gnomon.doctor import run
from gnomon.report.document import CheckResult
from tests.helpers.gallery_configs import LLAMA3, llama_config
from tests.helpers.subjects import holding


def judge(**fields: Any) -> CheckResult:
    return run("PE110", Subject("config", config=llama_config(**fields)))


@pytest.mark.parametrize(("length", "status"), [(4096, "passed"), (8192, "passed"), (8193, "failed")])
def test_base_10000_carries_8192_positions_without_scaling(length: int, status: str) -> None:
    result = judge(max_position_embeddings=length)
    assert (result.status, result.severity) == (status, "warning")


def test_the_finding_names_length_base_and_factor() -> None:
    [finding] = judge(max_position_embeddings=32_768).findings
    assert finding.message.startswith("32768 positions are stated with base 10000 and no scaling")
    assert "(linear: 4)" in finding.fix
    assert finding.measured == {"stated": 32_768, "trained": 8192}


def test_llama_3_without_its_scaling_is_known_by_its_vocabulary() -> None:
    fields = {"vocab_size": 128_256, "rope_theta": 5e5, "max_position_embeddings": 131_072}
    [finding] = judge(**fields).findings
    assert "Llama 3 was trained to 8192" in finding.message
    assert judge(**fields, rope_scaling=LLAMA3).status == "passed"
    assert judge(**{**fields, "rope_theta": 2.8e8}).status == "passed", "a base that was raised for it"


@pytest.mark.parametrize(
    "more",
    [
        {"rope_theta": 1e6},
        {"rope_scaling": {"type": "linear", "factor": 8.0}},
        {"sliding_window": 4096},
        {"rope_parameters": {"rope_type": "default", "rope_theta": 1e6}},
    ],
)
def test_a_larger_base_a_scaling_or_a_window_carries_more(more: dict[str, Any]) -> None:
    assert judge(max_position_embeddings=32_768, **more).status == "passed"


def test_a_window_that_is_switched_off_does_not() -> None:
    more = {"sliding_window": 4096, "use_sliding_window": False}
    assert judge(max_position_embeddings=32_768, **more).status == "failed"


def test_the_language_model_inside_is_judged() -> None:
    config = {"model_type": "llava", "text_config": llama_config(max_position_embeddings=32_768)}
    assert [f.where for f in run("PE110", Subject("config", config=config)).findings] == ["text_config"]


@pytest.mark.parametrize("kind", ["bert", "falcon", "nonesuch"])
def test_other_families_are_not_applicable(kind: str) -> None:
    assert judge(model_type=kind).status == "not-applicable"


@pytest.mark.parametrize(("tensor", "status"), [("rope_freqs.weight", "passed"), ("output_norm.weight", "failed")])
def test_a_gguf_file_may_keep_its_scaling_in_a_tensor(tensor: str, status: str) -> None:
    config = llama_config(vocab_size=128_256, rope_theta=5e5, max_position_embeddings=131_072)
    assert (
        run("PE110", holding({tensor: torch.ones(8), "token_embd.weight": torch.ones(2)}, config=config)).status
        == status
    )
