"""Encodings from JSON values, and positions joined to words in three ways."""

from typing import Any

import pytest
import torch

from gnomon.encodings import NoPE, Rotary, Sinusoidal
from gnomon.encodings.base import PositionEncoding
from gnomon.errors import GnomonError
from gnomon.lab.encoding import Fused, built_encoding
from gnomon.models import ModelOptions

SIZES = ModelOptions(vocabulary=9, dim=24, num_layers=3, num_heads=2)
X, AT = torch.randn(2, 5, 24), torch.tensor([[0, 3, 4, 9, 7]])


def built(given: Any, fusion: Any = "add") -> Any:
    return built_encoding(given, SIZES, fusion=fusion, max_length=13)


def test_sizes_that_are_needed_and_not_given_are_the_models() -> None:
    assert built({"encoding": "rotary"}).head_dim == 12
    assert built({"encoding": "learned"}).options == {
        "max_length": 13,
        "dim": 24,
        "init_std": 0.02,
        "padding_offset": 0,
    }
    assert built({"encoding": "learned", "max_length": 4}).max_length == 4
    assert built({"encoding": "alibi"}).num_heads == 2


def test_a_list_gives_each_layer_its_own_and_equal_ones_are_one_module() -> None:
    first, second, third = built([{"encoding": "t5"}, {"encoding": "nope"}, {"encoding": "t5"}])
    assert first is third
    assert isinstance(second, NoPE)


def test_frequencies_are_nested_options() -> None:
    encoding = built({"encoding": "rotary", "frequencies": {"kind": "linear", "factor": 4.0}})
    assert isinstance(encoding, Rotary)
    assert encoding.frequencies.options["factor"] == 4.0


def test_adding_is_what_the_encoding_does_itself() -> None:
    assert isinstance(built({"encoding": "sinusoidal"}), Sinusoidal)


def test_multiplying_takes_word_times_position() -> None:
    torch.testing.assert_close(
        built({"encoding": "sinusoidal"}, "multiply").embed(X, AT), X * (Sinusoidal(24).embed(X, AT) - X)
    )


def test_concatenating_projects_word_and_position_back_to_the_width() -> None:
    fused = built({"encoding": "sinusoidal"}, "concat")
    joined = torch.cat((X, (Sinusoidal(24).embed(torch.zeros_like(X), AT)).expand_as(X)), -1)
    torch.testing.assert_close(fused.embed(X, AT), joined @ fused.joined.weight.T + fused.joined.bias)
    assert fused.learned
    assert sum(p.numel() for p in fused.parameters()) == 48 * 24 + 24


def test_a_fused_table_keeps_its_limit() -> None:
    assert built({"encoding": "learned"}, "multiply").max_length == 13


@pytest.mark.parametrize(
    ("given", "fusion", "words"),
    [
        ({"encoding": "rotary"}, "multiply", "adds nothing to the embeddings, so there is nothing to multiply"),
        ({"encoding": "sinusoidal"}, "average", "add, concat, multiply, got 'average'"),
        ([{"encoding": "sinusoidal"}] * 3, "concat", "give one encoding for all"),
        ({"base": 3}, "add", "a dict with the key 'encoding'"),
        ({"encoding": "rotery"}, "add", "Did you mean 'rotary'"),
        ({"encoding": "rotary", "theta": 3}, "add", "has no option theta"),
    ],
)
def test_what_cannot_be_built_is_refused(given: Any, fusion: str, words: str) -> None:
    with pytest.raises(GnomonError, match=words):
        built(given, fusion)


def test_fused_is_an_encoding() -> None:
    assert isinstance(Fused(Sinusoidal(24), 24, "multiply"), PositionEncoding)
