"""PE324: no two positions of one input are the same."""

import pytest
import torch
from torch import Tensor

from tests.helpers.healthy import FOREIGN, MODELS
from tests.helpers.healthy_plain import PLAIN
from tests.helpers.toys import Toy, examine, only_finding


class Clamps(Toy):
    def ids(self, mask: Tensor) -> Tensor:
        return super().ids(mask).clamp(max=self.positions.num_embeddings - 1)


class WrapsRound(Toy):
    def ids(self, mask: Tensor) -> Tensor:
        return super().ids(mask) % self.positions.num_embeddings


class IndexesWithBrackets(Toy):
    def embed(self, tokens: Tensor, ids: Tensor) -> Tensor:
        x: Tensor = self.words(tokens) + self.positions.weight[ids]
        return x


def test_positions_that_stand_still_at_the_end_are_found_with_the_limit() -> None:
    result = examine("PE324", Clamps(rows=50))
    finding = only_finding(result)
    assert result.severity == "error"
    assert "positions are clamped: those from 50 on are all the last one" in finding.message
    assert "longer than 50" in finding.fix


def test_positions_that_start_over_are_found_with_the_limit() -> None:
    finding = only_finding(examine("PE324", WrapsRound(rows=50)))
    assert "positions are wrapped round: those from 50 on start over from 0" in finding.message
    assert finding.measured["first"] == 50


def test_a_rotation_that_stands_still_is_found() -> None:
    model = FOREIGN["llama"]()
    rotary = model.model.rotary_emb  # type: ignore[union-attr]
    own = rotary.forward  # type: ignore[union-attr]
    rotary.forward = lambda x, position_ids: own(x, position_ids.clamp(max=30))  # type: ignore[union-attr]
    finding = only_finding(examine("PE324", model))
    assert finding.measured["first"] == 31


def test_negative_ids_that_read_the_end_of_the_table_are_a_warning() -> None:
    result = examine("PE324", IndexesWithBrackets(rows=50))
    assert result.severity == "warning"
    assert "ids -3 to -1 read rows 47 to 49" in only_finding(result).message
    assert examine("PE324", Toy(rows=50)).status == "passed", "nn.Embedding refuses them"


@pytest.mark.parametrize("name", ["llama", "bert", "opt", "decoder, sinusoidal", "encoder, learned"])
def test_healthy_models_pass(name: str) -> None:
    assert examine("PE324", MODELS[name]()).status == "passed"


def test_a_model_whose_positions_are_biases_is_not_judged() -> None:
    result = examine("PE324", FOREIGN["bloom"]())
    assert result.status == "not-applicable"
    assert "neither as vectors" in result.detail


def test_a_constant_table_is_another_check_s_matter() -> None:
    class Constant(Toy):
        def embed(self, tokens: Tensor, ids: Tensor) -> Tensor:
            x: Tensor = self.words(tokens) + torch.ones(32)
            return x

    assert examine("PE324", Constant()).status == "not-applicable"


@pytest.mark.parametrize("name", ["recurrence, then attention", "retention"])
def test_a_state_that_settles_is_no_clamp(name: str) -> None:
    result = examine("PE324", PLAIN[name]())
    assert result.status in ("passed", "not-applicable"), result.findings


def test_positions_that_were_divided_and_cut_to_whole_numbers_are_found() -> None:
    class Halved(Toy):
        def ids(self, mask: Tensor) -> Tensor:
            return super().ids(mask) // 2

    result = examine("PE324", Halved(rows=50))
    finding = only_finding(result)
    assert result.severity == "warning"
    assert finding.measured == {"shared": 49, "first": 1}
    assert "torch.arange(length)" in finding.fix
