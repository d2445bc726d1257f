"""The multiplier and the bias of each attention, whatever operations make its logits."""

import math

import numpy as np
import pytest
import torch
from torch import Tensor

from gnomon.adapters.subject import MissingEvidence
from gnomon.doctor.evidence.scores import scores
from tests.helpers.healthy import FOREIGN
from tests.helpers.tiny_transformers import tiny_model
from tests.helpers.toys import DIM, HEADS, Toy, ToyDecoder, subject_of

SLOPES = torch.tensor([0.5, 0.25, 0.125, 0.0625])


class Written(ToyDecoder):
    """Attention written out, with a bias that is added before or after the logits are scaled."""

    def __init__(self, *, scaled_after: bool, in_place: bool = False) -> None:
        super().__init__(layers=1)
        self.scaled_after, self.in_place = scaled_after, in_place

    def logits(self, scores: Tensor, penalty: Tensor) -> Tensor:
        if self.in_place:
            scores -= penalty
            return scores
        return scores - penalty

    def forward(
        self, tokens: Tensor, attention_mask: Tensor | None = None, position_ids: Tensor | None = None
    ) -> Tensor:
        x = self.words(tokens)
        q, k, v = (t.unflatten(-1, (HEADS, -1)).transpose(1, 2) for t in self.layers[0].qkv(x).chunk(3, -1))  # type: ignore[operator,union-attr]
        places = torch.arange(tokens.shape[1])
        penalty = (SLOPES[:, None, None] * (places[:, None] - places).abs())[None]
        scores = q @ k.mT
        scale = 1 / math.sqrt(DIM / HEADS)
        scores = self.logits(scores, penalty) * scale if self.scaled_after else self.logits(scores * scale, penalty)
        scores = scores + self.bias(torch.ones(tokens.shape))
        out: Tensor = (scores.softmax(-1) @ v).transpose(1, 2).flatten(2)
        return out


@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize("scaled_after", [False, True])
def test_a_bias_is_read_as_it_counts_in_the_softmax(scaled_after: bool, in_place: bool) -> None:
    [score] = scores(subject_of(Written(scaled_after=scaled_after, in_place=in_place)))
    expected = -SLOPES.numpy() / (math.sqrt(DIM / HEADS) if scaled_after else 1)
    np.testing.assert_allclose(score.bias[:, 6, 5], expected, atol=1e-5)
    np.testing.assert_allclose(score.bias[:, 6, 2], 4 * expected, atol=1e-5)
    assert score.bias[0, 2, 3] == -math.inf
    assert score.multiplier == pytest.approx((DIM / HEADS) ** -0.5, rel=1e-5)


class Multiplied(Written):
    """A penalty made by multiplying a mask of ones and a least number."""

    def logits(self, scores: Tensor, penalty: Tensor) -> Tensor:
        keep = torch.ones(scores.shape[-2:]).tril()
        return scores * keep + (1 - keep) * -1e9 - penalty


def test_a_mask_of_large_numbers_is_a_mask() -> None:
    [score] = scores(subject_of(Multiplied(scaled_after=False)))
    np.testing.assert_allclose(score.bias[:, 6, 5], -SLOPES.numpy(), atol=1e-5)
    assert np.isneginf(score.bias[:, 2, 3]).all()


def test_a_bias_in_the_mask_of_a_fused_kernel_is_read_with_its_place() -> None:
    class Biased(ToyDecoder):
        def bias(self, mask: Tensor) -> Tensor:
            places = torch.arange(mask.shape[1])
            return super().bias(mask) - SLOPES[:, None, None] * (places[:, None] - places).abs()

    found = scores(subject_of(Biased()))
    assert [score.where for score in found] == ["layers.0", "layers.1"]
    np.testing.assert_allclose(found[0].bias[:, 6, 5], -SLOPES.numpy(), atol=1e-6)


@pytest.mark.parametrize(("family", "times"), [("llama", 1.0), ("bloom", 1.0), ("gpt-2", 1.0), ("falcon, alibi", 1.0)])
def test_families_divide_their_products_by_the_root_of_the_width(family: str, times: float) -> None:
    for score in scores(subject_of(FOREIGN[family]())):
        assert score.multiplier * score.head_dim**0.5 == pytest.approx(times, rel=1e-4)


def test_t5_does_not_divide() -> None:
    assert {round(score.multiplier, 5) for score in scores(subject_of(tiny_model("t5")))} == {1.0}


@pytest.mark.parametrize("family", ["deepseek_v2", "deepseek_v3"])
def test_where_no_kernel_fits_the_multiplier_is_still_read(family: str) -> None:
    for score in scores(subject_of(tiny_model(family))):
        assert score.multiplier * score.head_dim**0.5 == pytest.approx(1, rel=1e-4)


def test_content_biases_are_not_of_this_form() -> None:
    assert scores(subject_of(tiny_model("xlnet"))) == ()


def test_a_model_without_attention_is_told_so() -> None:
    with pytest.raises(MissingEvidence, match="no attention was seen"):
        scores(subject_of(tiny_model("rwkv")))


def test_masks_alone_leave_a_bias_of_zero() -> None:
    for score in scores(subject_of(Toy())):
        assert float(np.ptp(score.bias)) < 1e-5
