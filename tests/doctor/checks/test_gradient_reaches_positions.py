"""PE501: whether a backward pass reaches the learned table."""

import pytest
import torch
from torch import Tensor, nn

from tests.helpers.healthy import FOREIGN
from tests.helpers.healthy_plain import PLAIN
from tests.helpers.toys import Toy, examine, only_finding


class Detached(Toy):
    def embed(self, tokens: Tensor, ids: Tensor) -> Tensor:
        x: Tensor = self.words(tokens) + self.positions.weight.data[ids]
        return x


class Starved(Toy):
    def embed(self, tokens: Tensor, ids: Tensor) -> Tensor:
        x: Tensor = self.words(tokens) + 1e-6 * self.positions(ids)
        return x


class Overflowing(Toy):
    def embed(self, tokens: Tensor, ids: Tensor) -> Tensor:
        rows = self.positions(ids)
        x: Tensor = self.words(tokens) + (rows - rows).abs().sqrt()  # the gradient of sqrt at 0
        return x


def test_a_detached_table_is_found() -> None:
    result = examine("PE501", Detached())
    finding = only_finding(result)
    assert result.severity == "error"
    assert finding.where == "positions.weight"
    assert finding.measured == {"rows reached": 0}
    assert "no gradient reaches the table" in finding.message
    assert "no detach()" in finding.fix


def test_a_starved_table_is_warned_about_with_the_ratio() -> None:
    result = examine("PE501", Starved())
    finding = only_finding(result)
    assert result.severity == "warning"
    assert finding.measured["ratio"] == pytest.approx(1e-6, rel=2)
    assert "positions starve" in finding.message


def test_a_gradient_that_is_nan_is_found() -> None:
    assert only_finding(examine("PE501", Overflowing())).message == "the gradient is NaN or infinite"


def test_a_frozen_table_is_only_noted_and_stays_frozen() -> None:
    model = Toy()
    model.positions.weight.requires_grad_(False)
    result = examine("PE501", model)
    assert (result.status, result.severity) == ("failed", "note")
    assert only_finding(result).message == "requires_grad is off: training will not move the table"
    assert not model.positions.weight.requires_grad
    assert model.positions.weight.grad is None


@pytest.mark.parametrize("model", [Toy(), FOREIGN["gpt-2"](), FOREIGN["bert"](), FOREIGN["opt"]()])
def test_healthy_tables_pass_with_every_row_in_use_reached(model: nn.Module) -> None:
    result = examine("PE501", model)
    assert result.status == "passed", result.findings
    assert result.measured[0].value == result.measured[0].threshold == 9


def test_a_bare_parameter_is_examined_too() -> None:
    class Bare(Toy):
        def __init__(self) -> None:
            super().__init__()
            self.position_embedding = nn.Parameter(torch.randn(1, 64, 32) * 0.1)
            del self.positions

        def embed(self, tokens: Tensor, ids: Tensor) -> Tensor:
            x: Tensor = self.words(tokens) + self.position_embedding[0, ids]
            return x

    assert examine("PE501", Bare()).status == "passed"


def test_a_model_without_a_learned_table_is_not_judged() -> None:
    result = examine("PE501", FOREIGN["llama"]())
    assert result.status == "not-applicable"
    assert "table" in result.detail


class Clamped(nn.Module):
    """Every token after the fourth reads the fourth row."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.positions = nn.Embedding(40, 8), nn.Embedding(32, 8)
        self.layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        places = torch.arange(ids.shape[1]).clamp(max=3)
        out: torch.Tensor = self.layer(self.words(ids) + self.positions(places))
        return out


def test_positions_that_share_a_row_are_found() -> None:
    [finding] = [f for f in examine("PE501", Clamped()).findings if "share a row" in f.message]
    assert finding.measured == {"rows reached": 4, "rows used": 9}


def test_rows_behind_the_place_that_is_read_are_not_asked_for() -> None:
    assert examine("PE501", PLAIN["text tower, read at its end token"]()).status == "passed"
