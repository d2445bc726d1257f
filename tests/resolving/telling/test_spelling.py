"""Files that transformers 5 saved, in the older spelling, and the stacks that nothing else keeps from agreeing."""

from typing import Any

import pytest

from gnomon.resolving import resolve
from gnomon.resolving.gallery import gallery
from gnomon.resolving.given import Given
from gnomon.resolving.telling.spelling import in_older_spelling

YARN = {"rope_type": "yarn", "factor": 4.0}


@pytest.mark.parametrize(
    ("config", "older"),
    [
        ({"a": 1, "rope_parameters": {**YARN, "rope_theta": 1e6}}, {"a": 1, "rope_theta": 1e6, "rope_scaling": YARN}),
        ({"rope_parameters": {"rope_theta": 1e6}}, {"rope_theta": 1e6}),
        ({"rope_parameters": YARN}, {"rope_scaling": YARN}),
        (
            {"text_config": {"rope_parameters": {"rope_type": "default", "rope_theta": 5.0}}, "b": 2},
            {"text_config": {"rope_theta": 5.0}, "b": 2},
        ),
    ],
)
def test_the_block_becomes_a_base_and_a_scaling(config: dict[str, Any], older: dict[str, Any]) -> None:
    found = in_older_spelling(Given("a", config=config))
    assert found is not None
    assert found.config == older


@pytest.mark.parametrize(
    "config",
    [
        {},
        {"rope_theta": 1e4, "rope_parameters": {"rope_theta": 1e6}},
        {"rope_scaling": YARN, "rope_parameters": YARN},
        {"rope_parameters": {"full_attention": YARN}},
        {"rope_parameters": [1]},
    ],
)
def test_a_file_that_says_more_or_otherwise_has_no_older_spelling(config: dict[str, Any]) -> None:
    assert in_older_spelling(Given("a", config=config)) is None


def test_the_metadata_of_a_gguf_file_has_none() -> None:
    assert in_older_spelling(Given("a", metadata={"general.architecture": "llama"})) is None


def test_stacks_that_read_the_raw_file_are_named_in_the_sum() -> None:
    [entry] = [entry for entry in gallery() if entry.name == "qwen3-8b-saved-by-v5"]
    found = resolve(entry.given, stacks="vllm,mlx-lm,ort-genai")
    assert {column.stack: column.verdict for column in found.columns} == {
        "hf5": "reference",
        "vllm": "equal",
        "mlx-lm": "stops",
        "ort-genai": "differs",  # by another rule of its own, in either spelling
    }
    [said] = [sentence for sentence in found.summary if "rope_parameters" in sentence]
    assert said.endswith("in place of rope_parameters: mlx-lm.")
