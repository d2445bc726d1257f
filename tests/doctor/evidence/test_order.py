"""Does a model look forward, do its tokens mix, and does it see order?"""

import pytest
import torch
from torch import Tensor, nn

from gnomon.adapters.subject import MissingEvidence
from gnomon.doctor.evidence.calling import model
from gnomon.doctor.evidence.noise import difference, shift_tolerance
from gnomon.doctor.evidence.order import causality, mixing, other, reordering, require_sequence
from gnomon.encodings import NoPE
from tests.helpers.healthy import encoder
from tests.helpers.toys import Toy, ToyDecoder, subject_of


def test_a_causal_model_changes_only_its_last_output() -> None:
    found = causality(subject_of(ToyDecoder()))
    assert found.causal
    assert found.direction == "causal"
    assert max(found.leaks[:-1]) == 0
    assert found.leaks[-1] > 0.1


def test_a_model_that_looks_both_ways_changes_everywhere() -> None:
    found = causality(subject_of(Toy()))
    assert found.direction == "both ways"
    assert min(found.leaks) > 1e-4


def test_a_model_of_two_places_tells_nothing() -> None:
    with pytest.raises(MissingEvidence, match="takes 2 places"):
        causality(subject_of((Toy(rows=2), (torch.zeros(2, 2, dtype=torch.int64),))))


@pytest.mark.parametrize("vocabulary", [3, 4, 7, 40])
def test_other_content_differs_everywhere_and_stays_in_the_vocabulary(vocabulary: int) -> None:
    probe = model(subject_of(Toy(vocabulary=vocabulary)))
    content = probe.draw(2, 29)
    changed = other(probe, content)
    assert bool((changed != content).all())
    assert 0 <= int(changed.min()) <= int(changed.max()) < vocabulary


def test_an_encoder_without_positions_is_blind_to_order_to_rounding() -> None:
    assert reordering(subject_of(encoder(NoPE()))) < 1e-5
    assert reordering(subject_of(Toy())) > 0.02


def test_tokens_mix_in_attention_and_not_in_a_feed_forward() -> None:
    assert mixing(subject_of(Toy())) > 1e-3
    assert mixing(subject_of(ToyDecoder())) > 1e-3
    with pytest.raises(MissingEvidence, match="nothing mixes them"):
        mixing(subject_of(nn.Sequential(nn.Embedding(10, 4), nn.Linear(4, 4))))


def test_an_output_of_another_length_is_told() -> None:
    require_sequence(torch.zeros(2, 5, 3), 5)
    for shape in ((2, 5), (2, 4, 3)):
        with pytest.raises(MissingEvidence, match="has no vector for each of 5 places"):
            require_sequence(torch.zeros(shape), 5)


def test_a_difference_is_relative_to_the_larger_output() -> None:
    assert difference(torch.tensor([0.0, 4.0]), torch.tensor([1.0, 4.0])) == pytest.approx(0.25)
    assert difference(torch.zeros(3), torch.zeros(3)) == 0
    a = torch.tensor([1.0, -2.0])
    assert difference(a, a.bfloat16()) == 0


def test_the_tolerance_of_a_shift_grows_with_it() -> None:
    assert shift_tolerance(1e-3, 0) == pytest.approx(1e-3)
    assert shift_tolerance(1e-3, 65_536) > 4e-3 > shift_tolerance(1e-3, 256)


def test_padding_and_causal_masks_do_not_change_what_is_measured_here() -> None:
    class Swapped(Toy):
        """Sees order through the table only."""

        def embed(self, tokens: Tensor, ids: Tensor) -> Tensor:
            x: Tensor = self.words(tokens) + 0 * self.positions(ids)
            return x

    assert reordering(subject_of(Swapped())) < 1e-5
