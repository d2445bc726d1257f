"""PE502: whether a linear reader finds positions in the hidden states after the first block."""

from collections.abc import Callable

import pytest
from torch import Tensor, nn

from tests.helpers.healthy import FOREIGN, MODELS
from tests.helpers.toys import OverTheBatch, Toy, examine, only_finding


class Quiet(Toy):
    def embed(self, tokens: Tensor, ids: Tensor) -> Tensor:
        x: Tensor = self.words(tokens) + 1e-6 * self.positions(ids)
        return x


def test_positions_too_quiet_to_read_are_found() -> None:
    result = examine("PE502", Quiet())
    finding = only_finding(result)
    assert result.severity == "error"
    assert finding.where == "layers.0"
    assert finding.measured["chance"] == 1 / 16
    assert finding.measured["accuracy"] < 2 / 16
    assert "of positions are read rightly; chance is 6%" in finding.message
    assert "PE211" in finding.fix


@pytest.mark.parametrize(
    "build", [Toy, *(MODELS[name] for name in ("bert", "gpt-2", "encoder, sinusoidal", "decoder, learned"))]
)
def test_positions_of_healthy_models_are_read(build: Callable[[], nn.Module]) -> None:
    result = examine("PE502", build())
    assert result.status == "passed", result.findings
    assert float(result.measured[0].value) > 0.5


def test_the_control_with_equal_positions_is_at_chance_in_a_model_that_looks_both_ways() -> None:
    result = examine("PE502", Toy())
    control = next(m.value for m in result.measured if m.name == "the same with all positions equal")
    assert float(control) < 2 / 16


def test_relative_encodings_are_not_judged() -> None:
    result = examine("PE502", FOREIGN["llama"]())
    assert result.status == "not-applicable"
    assert "relative encodings act inside attention" in result.detail


def test_positions_along_the_batch_are_left_to_their_own_check() -> None:
    result = examine("PE502", OverTheBatch())
    assert (result.status, result.detail) == ("not-applicable", "positions follow the batch axis (PE306)")


def test_a_model_without_a_list_of_blocks_is_not_judged() -> None:
    class Blockless(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.words, self.positions, self.mix = nn.Embedding(40, 8), nn.Embedding(64, 8), nn.Linear(8, 8)

        def forward(self, tokens: Tensor) -> Tensor:
            x: Tensor = self.mix(self.words(tokens) + self.positions.weight[: tokens.shape[1]])
            return x

    result = examine("PE502", Blockless())
    assert (result.status, result.detail) == ("not-applicable", "no list of blocks in the model")
