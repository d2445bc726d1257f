"""A model that cannot be run is not a healthy model."""

import torch
from torch import Tensor, nn

from gnomon.adapters import load_subject
from gnomon.doctor import run
from tests.helpers.components import PositionalEncoding
from tests.helpers.healthy import MODELS
from tests.helpers.subjects import value
from tests.helpers.toys import Toy


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


def test_images_are_run_whole() -> None:
    result = run("PE310", load_subject((Patches(), (torch.zeros(2, 3, 16, 16),))))
    assert result.status == "passed"
    assert value(result, "shape of the output") == "2, 16, 8"


def test_the_axis_of_the_sequence_is_said() -> None:
    layer = nn.TransformerEncoderLayer(16, 4, 32, dropout=0.0)
    layers = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)
    result = run("PE310", load_subject((layers, (torch.randn(12, 2, 16),))))
    assert value(result, "axis of the sequence") == 0
    assert value(run("PE310", load_subject(MODELS["bert"]())), "axis of the sequence") == 1


def test_a_healthy_model_passes_and_no_model_is_not_applicable() -> None:
    assert run("PE310", load_subject(MODELS["bert"]())).status == "passed"
    assert run("PE310", load_subject(MODELS["bert"](), forward=False)).status == "not-applicable"


def test_numbers_that_leave_their_table_are_named_with_argument_and_table() -> None:
    example = {"tokens": torch.zeros(2, 9).long(), "position_ids": torch.arange(60, 69).expand(2, -1)}
    [finding] = run("PE310", load_subject((Toy(rows=64), example))).findings
    assert finding.where == "the argument position_ids"
    assert finding.message == "position_ids holds 68, and positions has rows 0 to 63"


def test_arguments_of_another_length_than_the_tokens_are_named() -> None:
    example = {"tokens": torch.zeros(2, 9).long(), "position_ids": torch.arange(7).expand(2, -1)}
    [finding] = run("PE310", load_subject((Toy(), example))).findings
    assert finding.message == "position_ids has 7 places and tokens has 9"
    assert "the same 9 places" in finding.fix


def test_a_bare_position_module_is_said_to_be_one() -> None:
    result = run("PE310", load_subject(PositionalEncoding()))
    assert result.status == "passed"
    assert value(result, "a bare position module, called as") == "forward(x (B, S, W))"
