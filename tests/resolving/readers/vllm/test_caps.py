"""vLLM: how long a server may be, by the file, the tokenizer and the user."""

from typing import Any

import pytest

from gnomon.resolving.given import Given
from gnomon.resolving.stacks.vllm import VLLM
from tests.helpers.stack_readings import LLAMA, decided, known, read

STACK = VLLM()
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 512}


def scaled(**block: Any) -> dict[str, Any]:
    return {**LLAMA, "rope_scaling": block}


@pytest.mark.parametrize(
    ("config", "cap", "key"),
    [
        ({}, 2048, "max_position_embeddings"),
        ({"max_seq_len": 512}, 512, "max_seq_len"),
        ({"model_max_length": 131072}, 131072, "model_max_length"),
        ({"max_position_embeddings": None}, 2048, "default"),
        ({"rope_scaling": {"rope_type": "linear", "factor": 4.0}}, 8192, "max_position_embeddings"),
        ({"rope_scaling": {"rope_type": "dynamic", "factor": 4.0}}, 8192, "max_position_embeddings"),
        ({"rope_scaling": YARN}, 2048, "max_position_embeddings"),
        ({"rope_scaling": {**YARN, "factor": 16.0}}, 8192, "max_position_embeddings"),
        ({"model_type": "gemma3_text", "rope_scaling": {"rope_type": "linear", "factor": 8.0}}, 2048, ""),
    ],
)
def test_the_cap(config: dict[str, Any], cap: int, key: str) -> None:
    reading = read(STACK, {**LLAMA, **config})
    assert reading.cap == cap, reading.refusal
    assert not key or decided(reading, "cap") == key


def test_the_tokenizer_shortens_the_cap_before_the_factor() -> None:
    given = Given("made", config=scaled(rope_type="linear", factor=4.0), tokenizer={"model_max_length": 1000})
    assert STACK.reading(given).cap == 4000
    yarn = Given("made", config=scaled(**YARN), tokenizer={"model_max_length": 1000})
    assert STACK.reading(yarn).cap == 2048
    unbounded = Given("made", config=LLAMA, tokenizer={"model_max_length": 10**30})
    assert STACK.reading(unbounded).cap == 2048


@pytest.mark.parametrize("kind", ["dynamic", "ntk"])
def test_a_table_shorter_than_the_cap_is_said(kind: str) -> None:
    config = {**scaled(rope_type=kind, factor=4.0), "max_position_embeddings": 16}
    assert "the table of angles has 16 rows, and the cap is 64" in read(STACK, config).notes


def test_a_longer_server_needs_a_variable() -> None:
    assert read(STACK, LLAMA, served=2048).notes == ()
    assert "VLLM_ALLOW_LONG_MAX_MODEL_LEN=1" in read(STACK, LLAMA, served=2049).notes[0]
    assert read(STACK, known("phi-3-mini-128k"), served=131072).notes == ()
    assert read(STACK, known("phi-3-mini-128k"), served=131073).notes
    assert read(STACK, {**LLAMA, "max_position_embeddings": None}, served=9999).notes == ()
