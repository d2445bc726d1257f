"""PE217: padding_idx on a table of positions, harmful and healthy."""

import pytest
import torch
from torch import Tensor, nn

from gnomon.doctor import run
from tests.helpers.subjects import holding, noise
from tests.helpers.tiny_transformers import tiny_model
from tests.helpers.toys import DIM, Toy, examine, only_finding


class Padded(Toy):
    """The first position takes row `start`."""

    def __init__(self, padding: int | None, start: int = 0) -> None:
        super().__init__()
        self.positions, self.start = nn.Embedding(64, DIM, padding_idx=padding), start

    def ids(self, mask: Tensor) -> Tensor:
        return super().ids(mask) + self.start


@pytest.mark.parametrize(("padding", "start", "place"), [(0, 0, 0), (5, 0, 5), (63, 0, 63), (-1, 0, 63), (3, 2, 1)])
def test_a_row_that_a_position_takes_is_found(padding: int, start: int, place: int) -> None:
    finding = only_finding(examine("PE217", Padded(padding, start)))
    assert f"silences position {place}" in finding.message
    assert "is all zero" in finding.message
    assert finding.severity is None


@pytest.mark.parametrize(("padding", "start"), [(0, 1), (1, 2), (None, 0)])
def test_a_row_before_the_first_position_is_healthy(padding: int | None, start: int) -> None:
    for code in ("PE217", "PE206"):
        assert examine(code, Padded(padding, start)).status == "passed"


def test_a_row_that_was_filled_afterwards_still_gets_no_gradient() -> None:
    model = Padded(5)
    with torch.no_grad():
        model.positions.weight[5] = 0.1
    finding = only_finding(examine("PE217", model))
    assert "gets no gradient" in finding.message
    assert "zero" not in finding.message


def test_without_a_forward_it_is_a_warning() -> None:
    module = nn.Module()
    module.position_embeddings = nn.Embedding(16, 8, padding_idx=5)
    result = examine("PE217", module)
    assert (result.status, result.severity) == ("failed", "warning")


@pytest.mark.parametrize("model_type", ["roberta", "longformer", "bert", "opt", "mbart", "gpt2"])
def test_released_models_pass(model_type: str) -> None:
    result = examine("PE217", tiny_model(model_type))
    assert result.status == "passed", result.findings


def test_a_file_does_not_say() -> None:
    assert run("PE217", holding({"wpe.weight": noise(16, 8)})).measured[0].value == "none"
