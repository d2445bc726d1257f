"""What a user gave: a config or the metadata of a GGUF file, and edits of its keys."""

import pytest

from gnomon.errors import GnomonError
from gnomon.resolving.given import Given


def test_a_config_and_metadata_exclude_each_other() -> None:
    with pytest.raises(GnomonError, match="model x is resolved from a config or from the metadata"):
        Given("model x", config={}, metadata={})
    with pytest.raises(GnomonError, match="give one"):
        Given("model x")


def test_an_edit_replaces_adds_and_drops_keys_and_leaves_the_original() -> None:
    given = Given(
        "a", config={"rope_theta": 1e4, "rope_scaling": {"type": "linear"}}, tokenizer={"model_max_length": 9}
    )
    edited = given.edited({"rope_theta": 1e6, "rope_scaling": None, "head_dim": 64})
    assert edited.config == {"rope_theta": 1e6, "head_dim": 64}
    assert given.config == {"rope_theta": 1e4, "rope_scaling": {"type": "linear"}}
    assert edited.tokenizer == {"model_max_length": 9}
    assert edited.metadata is None


def test_the_metadata_of_a_gguf_file_is_edited_alike() -> None:
    given = Given("a", metadata={"llama.rope.freq_base": 1e4}, factors={"rope_freqs.weight": (1.0, 8.0)})
    edited = given.edited({"llama.rope.freq_base": 5e5})
    assert edited.metadata == {"llama.rope.freq_base": 5e5}
    assert edited.config is None
    assert edited.factors == {"rope_freqs.weight": (1.0, 8.0)}
