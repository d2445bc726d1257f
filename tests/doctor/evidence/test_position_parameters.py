"""Which parameters carry positions."""

import pytest
from torch import nn

from gnomon.adapters.subject import MissingEvidence
from gnomon.doctor.evidence.position_parameters import position_parameters
from gnomon.encodings import KERPLE, Learned
from tests.helpers.gallery_training import BiasedByHeart, LearnedFrequencies
from tests.helpers.healthy import FOREIGN, decoder
from tests.helpers.tiny_transformers import tiny_model
from tests.helpers.toys import Toy, subject_of


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (Toy(), ["positions.weight"]),
        (BiasedByHeart(), ["relative_bias"]),
        (LearnedFrequencies(cached=False), ["freqs"]),
        (FOREIGN["bert"](), ["embeddings.position_embeddings.weight"]),
        (decoder(Learned(64, 32)), ["stack.blocks.0.attention.encoding.weight"]),
    ],
)
def test_they_are_found_by_what_they_hold(model: nn.Module, expected: list[str]) -> None:
    assert [p.name for p in position_parameters(subject_of(model))] == expected


def test_parameters_of_gnomons_encodings_are_found_whatever_their_name() -> None:
    assert len(position_parameters(subject_of(decoder(KERPLE(4))))) >= 2


def test_relative_biases_of_transformers_are_found() -> None:
    names = [p.name for p in position_parameters(subject_of(tiny_model("t5")))]
    assert len(names) == 2
    assert all(name.endswith("relative_attention_bias.weight") for name in names)


def test_computed_positions_have_none() -> None:
    with pytest.raises(MissingEvidence, match="no parameter"):
        position_parameters(subject_of(FOREIGN["llama"]()))
