"""PE509: positions lost on the way through the blocks."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from tests.helpers.healthy import FOREIGN
from tests.helpers.toys import Layer, Toy, examine, only_finding


class Mean(Layer):
    """A block without its residual path, which gives every place the mean of the sequence and noise."""

    def forward(self, x: Tensor, bias: Tensor) -> Tensor:
        noise = torch.randn(x.shape, generator=torch.Generator().manual_seed(0))
        return x.mean(1, keepdim=True) + 0.3 * noise


class Losing(Toy):
    def __init__(self) -> None:
        super().__init__(layers=3)
        self.layers[1] = Mean()


def test_the_block_that_loses_positions_is_named() -> None:
    result = examine("PE509", Losing())
    finding = only_finding(result)
    assert (result.severity, finding.where) == ("note", "layers.1")
    assert finding.measured["first block"] > 0.9
    assert finding.measured["this block"] < 2 * finding.measured["chance"] == 2 / 16


def test_every_block_is_measured_beside_its_control() -> None:
    result = examine("PE509", Toy(layers=3))
    assert result.status == "passed"
    found = {m.name: m.value for m in result.measured}
    for layer in range(3):
        assert isinstance(read := found[f"positions read rightly after layers.{layer}"], float)
        assert isinstance(same := found[f"the same after layers.{layer}, all positions equal"], float)
        assert read > 0.9 > 0.2 > same


@pytest.mark.parametrize("family", ["gpt-2", "bert", "opt"])
def test_healthy_families_pass(family: str) -> None:
    assert examine("PE509", FOREIGN[family]()).status == "passed"


def test_relative_encodings_are_not_judged() -> None:
    assert examine("PE509", FOREIGN["llama"]()).status == "not-applicable"


def test_positions_that_never_arrive_are_the_matter_of_another_check() -> None:
    class Deaf(Toy):
        def embed(self, tokens: Tensor, ids: Tensor) -> Tensor:
            x: Tensor = self.words(tokens) + 1e-9 * self.positions(ids)
            return x

    result = examine("PE509", Deaf())
    assert (result.status, result.findings) == ("not-applicable", ())


def test_deep_models_are_read_at_twelve_blocks_spread_over_the_depth() -> None:
    from gnomon.doctor.evidence.recovery_by_layer import _blocks

    class Deep(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.blocks: Any = nn.ModuleList([nn.Linear(1, 1) for _ in range(40)])

    paths = _blocks(Deep())
    assert (len(paths), paths[0], paths[-1]) == (12, "blocks.0", "blocks.39")
