"""PE322: a call leaves nothing behind."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from tests.helpers.healthy import FOREIGN
from tests.helpers.subjects import value
from tests.helpers.toys import Toy, examine, only_finding


class KeyedByLength(Toy):
    """Keeps the position vectors of the first call of each length."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.kept: dict[int, Tensor] = {}

    def embed(self, tokens: Tensor, ids: Tensor) -> Tensor:
        places = self.kept.setdefault(tokens.shape[1], self.positions(ids)[:1])
        x: Tensor = self.words(tokens) + places
        return x


class ScalesForEver(Toy):
    """Halves its positions at the first input longer than 10, and stays so."""

    factor = 1

    def ids(self, mask: Tensor) -> Tensor:
        self.factor = 2 if mask.shape[1] > 10 else self.factor
        return super().ids(mask) // self.factor


class WritesIntoIds(Toy):
    def embed(self, tokens: Tensor, ids: Tensor) -> Tensor:
        ids += 2
        return super().embed(tokens, ids)


class WritesIntoVectors(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.table, self.mix = nn.Parameter(torch.randn(64, 8)), nn.Linear(8, 8)

    def forward(self, x: Tensor) -> Tensor:
        x += self.table[: x.shape[1]]
        out: Tensor = self.mix(x)
        return out


class MovesItsOwnIds(Toy):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("counted", torch.arange(64), persistent=False)

    def ids(self, mask: Tensor) -> Tensor:
        counted: Tensor = self.counted  # type: ignore[assignment]
        counted.add_(1).remainder_(60)
        return counted[: mask.shape[1]].expand(len(mask), -1)


def test_a_cache_that_length_alone_finds_is_found_by_other_position_ids() -> None:
    finding = only_finding(examine("PE322", KeyedByLength()))
    assert "after a call with other position ids" in finding.message
    assert "its length alone does not tell an offset" in finding.fix
    assert finding.measured["difference"] > 0.05


def test_a_scaling_that_stays_after_a_long_input_is_found() -> None:
    result = examine("PE322", ScalesForEver())
    assert result.severity == "error"
    assert "after a call with a longer input" in result.findings[0].message


def test_ids_that_the_forward_writes_into_are_named_with_the_step() -> None:
    finding = only_finding(examine("PE322", WritesIntoIds()))
    assert finding.where == "the argument position_ids"
    assert finding.measured["moved"] == 2
    assert "position_ids = position_ids + offset" in finding.fix


def test_vectors_that_the_forward_writes_into_are_named() -> None:
    finding = only_finding(examine("PE322", (WritesIntoVectors(), (torch.randn(2, 9, 8),))))
    assert finding.where == "the argument x"


def test_a_buffer_of_ids_that_moves_is_named() -> None:
    result = examine("PE322", MovesItsOwnIds())
    assert "counted" in [f.where for f in result.findings]
    assert "in place" in next(f.fix for f in result.findings if f.where == "counted")


@pytest.mark.parametrize("name", ["llama, dynamic", "phi3, longrope", "bert", "bloom"])
def test_healthy_families_pass(name: str) -> None:
    result = examine("PE322", FOREIGN[name]())
    assert result.status == "passed"
    assert all(float(m.value) == 0 for m in result.measured)


def test_a_rule_that_switches_beyond_the_stated_length_is_gone_beyond() -> None:
    result = examine("PE322", FOREIGN["llama, dynamic"]())
    assert value(result, "difference after an input longer than the stated limit") == 0


def test_a_model_of_one_place_is_not_judged() -> None:
    assert examine("PE322", (Toy(rows=2), (torch.zeros(2, 2).long(),))).status == "not-applicable"
