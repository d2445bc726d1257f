"""One slope for each head, from the sum of what was added to the logits of one attention."""

import numpy as np
import pytest
import torch
from torch import Tensor

from gnomon.adapters.subject import MissingEvidence
from gnomon.doctor.evidence.biases import bias_uses
from tests.helpers.healthy import FOREIGN
from tests.helpers.tiny_transformers import tiny_model
from tests.helpers.toys import HEADS, Toy, ToyDecoder, subject_of

SLOPES = np.array([0.5, -0.25, 0.125, 1.0])


class Linear(ToyDecoder):
    """Minus slope times distance, and a number for each query that the softmax ignores."""

    def bias(self, mask: Tensor) -> Tensor:
        places = torch.arange(mask.shape[1])
        bias = -torch.tensor(SLOPES)[:, None, None] * (places[:, None] - places).abs() + 3.0 * places[:, None]
        return super().bias(mask) + bias.float()


class Bent(Linear):
    def bias(self, mask: Tensor) -> Tensor:
        places = torch.arange(mask.shape[1])
        return super().bias(mask) - 0.01 * (places[:, None] - places).square().float()


def test_slopes_are_read_under_a_causal_mask_whatever_a_row_adds() -> None:
    uses = bias_uses(subject_of(Linear()))
    assert [use.where for use in uses] == ["layers.0", "layers.1"]
    np.testing.assert_allclose(uses[0].slopes, SLOPES, rtol=1e-5)
    assert uses[0].curvature < 1e-4


def test_a_bias_that_is_not_linear_has_curvature() -> None:
    assert bias_uses(subject_of(Bent()))[0].curvature > 0.1
    assert bias_uses(subject_of(tiny_model("t5")))[0].curvature > 0.01


@pytest.mark.parametrize("name", ["bloom", "mpt"])
def test_families_show_the_published_slopes(name: str) -> None:
    for use in bias_uses(subject_of(FOREIGN[name]())):
        np.testing.assert_allclose(use.slopes, [2.0 ** (-8 * h / HEADS) for h in range(1, HEADS + 1)], rtol=1e-3)


@pytest.mark.parametrize("target", [Toy(), ToyDecoder()])
def test_masks_alone_are_no_bias(target: Toy) -> None:
    with pytest.raises(MissingEvidence, match="no position bias"):
        bias_uses(subject_of(target))


def test_a_rotary_model_has_none() -> None:
    with pytest.raises(MissingEvidence, match="no position bias"):
        bias_uses(subject_of(FOREIGN["llama"]()))
