"""Decoding through a cache in both conventions: returned by the forward, or given and filled."""

from typing import Any

import pytest
import torch
from torch import Tensor

from gnomon.adapters.subject import MissingEvidence
from gnomon.doctor.evidence.calling import model
from gnomon.doctor.evidence.decoding import decoding
from gnomon.doctor.evidence.padding import LENGTH, PADS, pad_token, padded_on_the_left, padded_on_the_right
from gnomon.encodings import Learned, Rotary
from tests.helpers.gallery_caches import Filling, Keeping
from tests.helpers.gallery_decoding import Core, Masked, Returning, tokens
from tests.helpers.healthy import FOREIGN, decoder
from tests.helpers.toys import Toy, ToyDecoder, subject_of


@pytest.mark.parametrize("name", ["llama", "gpt-2", "rotary", "learned"])
@pytest.mark.parametrize("chunks", [[1] * 7, [4, 1, 2], [7]])
def test_any_chunks_give_what_one_pass_gives(name: str, chunks: list[int]) -> None:
    own = {"rotary": lambda: decoder(Rotary(8)), "learned": lambda: decoder(Learned(64, 32))}
    subject = subject_of({**FOREIGN, **own}[name]())
    probe = model(subject)
    content = probe.draw(2, 7)
    torch.testing.assert_close(decoding(subject).fed(probe, content, chunks), probe(content), atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize(
    ("kind", "name", "form"),
    [
        (Returning, "past", "none"),
        (Masked, "past_key_values", "none"),
        (Keeping, "the module", "number"),
        (Filling, "cache", "none"),
    ],
)
def test_the_way_a_model_decodes_is_found_by_trying(kind: type[Core], name: str, form: str) -> None:
    way = decoding(subject_of(tokens(kind())))
    assert (way.name, way.form, way.kept) == (name, form, name == "the module")


def test_the_mask_describes_all_slots_or_the_new_ones() -> None:
    assert decoding(subject_of(FOREIGN["llama"]())).span == "all"
    assert decoding(subject_of(decoder(Rotary(8)))).span == "new"


def test_a_model_that_remembers_is_left_as_it_was() -> None:
    target, example = tokens(Keeping())
    subject = subject_of((target, example))
    decoding(subject)
    assert not target.keys.any()  # type: ignore[operator]


def test_a_model_without_a_cache_is_told() -> None:
    for target in (ToyDecoder(), Toy()):
        with pytest.raises(MissingEvidence, match="no cache argument"):
            decoding(subject_of(target))


def test_an_encoder_with_a_cache_argument_does_not_decode() -> None:
    with pytest.raises(MissingEvidence, match="looks both ways"):
        decoding(subject_of(FOREIGN["bert"]()))


def test_a_forward_that_returns_no_cache_is_told() -> None:
    class Forgetful(ToyDecoder):
        def forward(self, tokens: Tensor, past_key_values: Any = None, use_cache: bool = False) -> Tensor:  # type: ignore[override]
            return super().forward(tokens)

    with pytest.raises(MissingEvidence, match="returned no cache"):
        decoding(subject_of(Forgetful()))


def test_padded_inputs_hold_the_row_alone_and_a_mask_that_says_where() -> None:
    probe = model(subject_of(Toy()))
    alone, padded, mask = padded_on_the_left(probe, pad=1)
    assert alone.shape == (2, LENGTH)
    assert torch.equal(padded[:, PADS:], alone)
    assert mask[0].tolist() == [0] * PADS + [1] * LENGTH
    assert padded[:, :PADS].unique().tolist() == [1]
    alone, padded, mask = padded_on_the_right(probe)
    assert torch.equal(padded[:, :-PADS], alone)
    assert mask[1].tolist() == [1] * LENGTH + [0] * PADS


def test_a_padding_id_comes_from_the_config_or_not_at_all() -> None:
    assert pad_token(subject_of(FOREIGN["llama"]())) == 1
    assert pad_token(subject_of(Toy())) is None
    probe = model(subject_of(Toy()))
    assert int(padded_on_the_left(probe, pad=10_000)[1].max()) < 40
