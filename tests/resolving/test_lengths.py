"""The lengths at which stacks are compared follow from the file and from what the user adds."""

from typing import Any

import pytest

from gnomon.errors import GnomonError
from gnomon.resolving.given import Given
from gnomon.resolving.lengths import Lengths, lengths_for, stated_lengths


def stated(config: dict[str, Any]) -> tuple[int | None, int | None]:
    return stated_lengths(Given("", config=config))


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({"max_position_embeddings": 4096}, (4096, 4096)),
        ({"n_positions": 2048}, (2048, 2048)),
        ({"max_position_embeddings": 4096, "rope_scaling": {"type": "linear", "factor": 4}}, (4096, 4096)),
        ({"max_position_embeddings": 4096, "rope_scaling": {"type": "dynamic", "factor": 4}}, (4096, 16384)),
        ({"max_position_embeddings": 131072, "original_max_position_embeddings": 4096}, (4096, 131072)),
        (
            {"text_config": {"max_position_embeddings": 131072, "rope_parameters": {"full": {"factor": 8}}}},
            (131072, 131072),
        ),
        (
            {
                "max_position_embeddings": 40960,
                "rope_scaling": {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768},
            },
            (32768, 131072),
        ),
        (
            {
                "max_position_embeddings": 131072,
                "rope_scaling": {"type": "llama3", "factor": 8.0, "original_max_position_embeddings": 8192},
            },
            (8192, 131072),
        ),
        (  # Llama 3.2: the factor is 32 over 8192, and the model was made for 131072
            {
                "max_position_embeddings": 131072,
                "rope_scaling": {"rope_type": "llama3", "factor": 32.0, "original_max_position_embeddings": 8192},
            },
            (8192, 131072),
        ),
        ({}, (None, None)),
        ({"max_position_embeddings": "4096"}, (None, None)),
        ({"max_position_embeddings": float("nan")}, (None, None)),
        ({"max_position_embeddings": 64, "rope_scaling": {"type": "yarn", "factor": 1e30}}, (64, 64)),
    ],
)
def test_the_trained_and_the_longest_length_of_a_file(config: dict[str, Any], expected: tuple[int, int]) -> None:
    assert stated(config) == expected


def test_a_gguf_file_states_them_under_its_own_names() -> None:
    metadata = {
        "general.architecture": "qwen2",
        "qwen2.context_length": 32768,
        "qwen2.rope.scaling.type": "yarn",
        "qwen2.rope.scaling.factor": 4.0,
        "qwen2.rope.scaling.original_context_length": 16384,
    }
    assert stated_lengths(Given("", metadata=metadata)) == (16384, 65536)


YARN = Given("", config={"max_position_embeddings": 64, "rope_scaling": {"type": "yarn", "factor": 4.0}})


def test_one_past_the_trained_length_counts_only_where_the_file_goes_further() -> None:
    assert lengths_for(YARN) == Lengths((64, 65, 256), 256)
    assert lengths_for(Given("", config={"n_positions": 64})) == Lengths((64,), 64)
    assert lengths_for(Given("", config={})) == Lengths((2048,), 2048, stated=False)


def test_the_user_adds_lengths_and_says_what_servers_are_started_for() -> None:
    assert lengths_for(YARN, [100, 300]) == Lengths((64, 65, 100, 256, 300), 300)
    assert lengths_for(YARN, [100], served=128) == Lengths((64, 65, 100), 128)
    assert lengths_for(YARN, served=32) == Lengths((32,), 32)


@pytest.mark.parametrize(
    ("lengths", "served", "sentence"),
    [
        ([0], None, "A length is a whole number of tokens from 1"),
        ([True], None, "got True"),
        ([1.5], None, "got 1.5"),
        ([], -1, "The served length is a whole number"),
        ([200], 128, "A server for 128 tokens holds no 200"),
    ],
)
def test_lengths_that_are_none_end_in_one_sentence(lengths: Any, served: Any, sentence: str) -> None:
    with pytest.raises(GnomonError, match=sentence):
        lengths_for(YARN, lengths, served)


@pytest.mark.parametrize("lengths", [5, "abc", "4096", None])
def test_lengths_that_are_no_list_are_one_sentence(lengths: Any) -> None:
    with pytest.raises(GnomonError, match=r"Lengths are whole numbers of tokens in a list, as in \[8192, 32768\]; got"):
        lengths_for(Given("a", config={}), lengths)
