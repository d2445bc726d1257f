"""Models with conventions of their own: sequence-first, arguments behind stars, needed labels, images, two stacks."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from gnomon.adapters.subject import MissingEvidence
from gnomon.doctor.evidence.calling import model
from tests.helpers.tiny_transformers import tiny_model
from tests.helpers.toys import Toy, subject_of

IDS = torch.randint(5, 40, (2, 12), generator=torch.Generator().manual_seed(0))


def layers_of_torch(*, batch_first: bool) -> nn.Module:
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(16, 4, 32, dropout=0.0, batch_first=batch_first)
    return nn.TransformerEncoder(layer, 1, enable_nested_tensor=False).eval()


def test_a_sequence_first_model_is_turned_around() -> None:
    probe = model(subject_of((layers_of_torch(batch_first=False), (torch.randn(12, 2, 16),))))
    assert probe.signature.sequence_first
    content = probe.draw(2, 7)
    other = content.clone()
    other[1] += 1
    assert torch.equal(probe(content)[0], probe(other)[0]), "rows do not meet"
    torch.testing.assert_close(probe(content), probe.module(content.transpose(0, 1)).transpose(0, 1))
    assert not model(
        subject_of((layers_of_torch(batch_first=True), (torch.randn(2, 12, 16),)))
    ).signature.sequence_first


class Turned(nn.Module):
    """Sequence-first layers: of ids (S, B), or of (B, S) with outputs left as (S, B, W), or one for each row."""

    def __init__(self, *, inside: bool, pooled: bool = False) -> None:
        super().__init__()
        self.words, self.layers = nn.Embedding(30, 16), layers_of_torch(batch_first=False)
        self.inside, self.pooled = inside, pooled

    def forward(self, ids: Tensor) -> Tensor:
        out: Tensor = self.layers(self.words(ids.T if self.inside else ids))
        return out.mean(0) if self.pooled else out


def test_outputs_left_sequence_first_are_turned_back() -> None:
    probe = model(subject_of((Turned(inside=True), (torch.randint(0, 30, (2, 12)),))))
    assert probe.signature.turned
    assert not probe.signature.sequence_first
    assert probe(probe.draw(2, 7)).shape == (2, 7, 16)


def test_a_classifier_that_pools_its_first_axis_is_sequence_first() -> None:
    probe = model(subject_of((Turned(inside=False, pooled=True), (torch.randint(0, 30, (12, 2)),))))
    assert probe.signature.sequence_first
    assert probe(probe.draw(3, 7)).shape == (3, 16)
    assert not model(
        subject_of((Turned(inside=True, pooled=True), (torch.zeros(2, 12).long(),)))
    ).signature.sequence_first


def test_arguments_behind_stars_are_passed_as_they_were_given() -> None:
    class Wrapper(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = Toy()

        def forward(self, *args: Any, **kwargs: Any) -> Tensor:
            out: Tensor = self.inner(*args, **kwargs)
            return out

    probe = model(subject_of((Wrapper(), (IDS,))))
    torch.testing.assert_close(probe(probe.draw(2, 5)), probe.module.inner(probe.draw(2, 5)))  # type: ignore[operator]
    named = model(subject_of((Wrapper(), {"kwargs": {"tokens": IDS}})))
    assert named.signature.content == "tokens"


def test_arguments_by_place_only_and_by_name_only_are_passed_so() -> None:
    class ByPlace(Toy):
        def forward(self, tokens: Tensor, /, *, mask: Tensor | None = None) -> Tensor:  # type: ignore[override]
            return super().forward(tokens, mask)

    probe = model(subject_of(ByPlace()))
    assert probe(probe.draw(3, 5)).shape == (3, 5, 32)
    assert probe.signature.mask == "mask"


def test_what_a_forward_insists_on_is_filled_in_by_its_name() -> None:
    class Trains(Toy):
        def forward(self, input_ids: Tensor, attention_mask: Tensor, labels: Tensor) -> Any:  # type: ignore[override]
            out = super().forward(input_ids, attention_mask)
            return nn.functional.cross_entropy(out.flatten(0, 1), labels.flatten()), out

    probe = model(subject_of(Trains(vocabulary=32)))
    assert probe(probe.draw(3, 5)).shape == (3, 5, 32), "the loss is not the output"


def test_a_decoder_s_tokens_are_the_content_of_an_encoder_decoder() -> None:
    probe = model(subject_of(tiny_model("bart")))
    assert (probe.signature.content, probe.signature.mask) == ("decoder_input_ids", "decoder_attention_mask")
    assert probe(probe.draw(3, 5)).shape[:2] == (3, 5)


def test_the_vocabulary_is_that_of_the_table_which_the_tokens_are_looked_up_in() -> None:
    class TableFirst(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.places, self.words = nn.Embedding(512, 8), nn.Embedding(11, 8)

        def forward(self, tokens: Tensor) -> Tensor:
            out: Tensor = self.words(tokens) + self.places(torch.arange(tokens.shape[1]))
            return out

    assert model(subject_of((TableFirst(), (torch.zeros(2, 6).long(),)))).vocabulary == 11


def test_images_are_drawn_at_the_size_of_the_example_and_have_no_places() -> None:
    probe = model(subject_of((nn.Conv2d(3, 4, 3), (torch.randn(1, 3, 8, 10),))))
    assert probe.takes_images
    assert probe.draw(5, 99).shape == (5, 3, 8, 10)
    with pytest.raises(MissingEvidence, match=r"is images, without an axis of places"):
        probe.length(5)
