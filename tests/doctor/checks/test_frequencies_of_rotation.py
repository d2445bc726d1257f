"""PE330: frequencies of a rotation, judged by themselves where no config says which were meant."""

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from tests.helpers.gallery_forms import Form, halves
from tests.helpers.toys import examine, llama, only_finding

LANES = torch.arange(0, Form.head_dim, 2).float()


class Turned(Form):
    """Rotates halves by given frequencies, the same in every layer but where `later` gives those of the last."""

    def __init__(self, frequencies: Tensor, later: Tensor | None = None) -> None:
        super().__init__()
        self.by_layer = [frequencies, frequencies if later is None else later]

    def turn(self, x: Tensor, positions: Tensor, layer: int) -> Tensor:
        angles = (positions[..., None].float() * self.by_layer[layer])[:, None]
        cos, sin = (torch.cat((table, table), dim=-1) for table in (angles.cos(), angles.sin()))
        return x * cos + halves(x) * sin


PLAIN = 10000.0 ** (-LANES / Form.head_dim)


@pytest.mark.parametrize(
    "frequencies",
    [PLAIN, PLAIN / 4, PLAIN / 2.5, 500000.0 ** (-LANES / 8), PLAIN * torch.tensor([1.0, 1.0, 0.6, 0.25])],
    ids=["plain", "by four", "by two and a half", "large base", "bent by parts"],
)
def test_published_frequencies_pass(frequencies: Tensor) -> None:
    result = examine("PE330", Turned(frequencies))
    assert result.status == "passed", result.findings


@pytest.mark.parametrize(
    ("frequencies", "message", "fix"),
    [
        (10000.0 ** (-LANES / 16), r"follow base 100: the slowest pair goes round in 199 positions", "exponent i / r"),
        (torch.exp(-math.log10(10000.0) * LANES / 8), "follow base 54.6:", "exp(log10(10000))"),
        (10000.0 ** (LANES / 8), "frequencies do not fall from pair to pair: 1, -2.57", "a plus in the exponent"),
        (torch.rad2deg(PLAIN), "frequencies do not fall from pair to pair: 0.747, -0.554", "degrees"),
        (torch.linspace(1, 1e-4, 4), "fall by equal steps of 0.333, not by equal ratios", "logspace"),
        (torch.ones(4), "all 4 pairs turn by 1 a position", "whole numbers in the exponent"),
        (PLAIN / math.sqrt(8), "positions are divided by 2.828", "leave 1/sqrt(d) to the scores"),
        (PLAIN * 2, "positions are times 2", "a whole number of tokens"),
    ],
)
def test_a_slip_in_the_formula_is_told_from_the_frequencies(frequencies: Tensor, message: str, fix: str) -> None:
    result = examine("PE330", Turned(frequencies))
    finding = only_finding(result)
    assert (result.severity, finding.where) == ("warning", "blocks.*")
    assert message in finding.message
    assert fix in finding.fix


def test_a_layer_that_counts_positions_double_is_named() -> None:
    assert "(layers: 1, first blocks.1)" in only_finding(examine("PE330", Turned(PLAIN, later=PLAIN * 2))).message


class WholeWidth(Form):
    """Rotates queries and keys by halves before their heads are split."""

    def turn(self, x: Tensor, positions: Tensor, layer: int) -> Tensor:
        whole = x.transpose(1, 2).flatten(2)
        angles = positions[..., None].float() * PLAIN.repeat(2 * self.heads)
        turned = whole * angles.cos() + halves(whole) * angles.sin()
        return torch.unflatten(turned, -1, (self.heads, -1)).transpose(1, 2)


def test_a_rotation_over_all_heads_at_once_is_an_error() -> None:
    result = examine("PE330", WholeWidth())
    finding = only_finding(result)
    assert result.severity == "error"
    assert "32 lanes are rotated by halves, and a head has 8" in finding.message
    assert finding.fix == "split the heads first, (B, H, S, 8), and rotate each with 4 frequencies"


@pytest.mark.parametrize(
    ("build", "reason"), [(llama, "the config says which frequencies are meant"), (Form, "no rot")]
)
def test_what_a_config_states_is_judged_elsewhere(build: Callable[[], Form], reason: str) -> None:
    result = examine("PE330", build())
    assert result.status == "not-applicable"
    assert reason in result.detail
