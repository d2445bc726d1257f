"""A model that cannot be run is not a healthy model."""

import torch
from torch import Tensor, nn

from gnomon.adapters import load_subject
from gnomon.doctor import run
from tests.helpers.healthy import MODELS


class NeedsMore(nn.Module):
    """Cannot be called with ids alone."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(30, 8)

    def forward(self, ids: Tensor, extra: Tensor) -> Tensor:
        out: Tensor = self.words(ids) + extra
        return out


class Patches(nn.Module):
    """Takes images."""

    def __init__(self) -> None:
        super().__init__()
        self.cut = nn.Conv2d(3, 8, 4, stride=4)

    def forward(self, image: Tensor) -> Tensor:
        out: Tensor = self.cut(image).flatten(2).mT
        return out


def test_a_forward_that_needs_more_is_named_with_what_to_give() -> None:
    result = run("PE310", load_subject(NeedsMore()))
    [finding] = result.findings
    assert (result.status, result.severity) == ("failed", "error")
    assert "missing 1 required positional argument: 'extra'" in finding.message
    assert "(module, example)" in finding.fix


def test_with_its_example_it_runs() -> None:
    example = (torch.randint(0, 30, (2, 7)), torch.zeros(8))
    assert run("PE310", load_subject((NeedsMore(), example))).status == "passed"


def test_images_are_not_cut_to_pieces_and_their_shape_is_named() -> None:
    [finding] = run("PE310", load_subject((Patches(), (torch.zeros(2, 3, 16, 16),)))).findings
    assert "(2, 3, 16, 16)" in finding.message


def test_a_healthy_model_passes_and_no_model_is_not_applicable() -> None:
    assert run("PE310", load_subject(MODELS["bert"]())).status == "passed"
    assert run("PE310", load_subject(MODELS["bert"](), forward=False)).status == "not-applicable"
