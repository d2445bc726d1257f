"""Claims 14, 34 and 35."""

import pytest
import torch

from gnomon.encodings import Learned
from gnomon.lab.claims.gradients import checked, ratio
from gnomon.lab.claims.small import Tagger, token_before
from tests.helpers.claims import measure, verdict


def test_the_ratio_is_that_of_gradients_by_hand() -> None:
    """One token of one word at one place, first in its row: both rows get the same gradient."""
    torch.manual_seed(0)
    model = Tagger(5, 5, Learned(2, 8), dim=8, layers=1)
    rows = torch.tensor([[3]]), torch.tensor([[1]])
    assert ratio(model, rows) == pytest.approx(0.5**0.5, rel=1e-4)  # the second row of the table gets none
    assert model.encoder.stack.embedding.words.weight.grad is None


def test_drowning_holds_fails_or_depends() -> None:
    names = ("few rows, at first", "many rows, at first", "many rows, after 100 steps")
    rest: dict[str, float | tuple[float, ...]] = dict.fromkeys(names, 1.0)
    assert verdict(14, {**rest, "few rows, after 100 steps": (0.01, 0.05)}) == "holds"
    assert verdict(14, {**rest, "few rows, after 100 steps": (1.5, 2.0)}) == "fails"
    assert verdict(14, {**rest, "few rows, after 100 steps": (0.05, 2.0)}) == "depends"


def test_gradients_are_measured_before_and_after() -> None:
    numbers = measure(14)
    assert len(numbers) == 4
    assert min(numbers.values()) > 0


def test_gradcheck_needs_float64_and_notices_a_table_that_is_detached() -> None:
    numbers = measure(34)
    assert numbers["passes in float32"] == 0
    assert numbers["passes in float64"] == 1
    assert numbers["passes when detached"] == 0
    assert numbers["gradient of a backward pass"] > 0
    assert verdict(34, numbers) == "depends"
    assert verdict(34, {**numbers, "passes in float32": 1.0}) == "holds"
    assert verdict(34, {**numbers, "passes when detached": 1.0}) == "fails"


def test_a_detached_table_is_detached() -> None:
    table, x = torch.ones(2, 2), torch.zeros(1, 2, 2)
    assert checked(table.double() + torch.eye(2), x, torch.float64) == 1
    assert checked(table.double() + torch.eye(2), x, torch.float64, detached=True) == 0


def test_a_parameter_is_moved_and_decays_as_the_rule_says() -> None:
    numbers = measure(35)
    assert numbers["parameter moved"] > 0.01
    assert numbers["derived table moved"] == 0
    assert numbers["decayed without a gradient"] == pytest.approx(1 - (1 - 0.01 * 0.1) ** 100, rel=1e-3)
    assert verdict(35, numbers) == "fails"
    assert verdict(35, {**numbers, "parameter moved": 0.0}) == "holds"


def test_a_backward_pass_leaves_no_gradient_behind() -> None:
    torch.manual_seed(0)
    model = Tagger(5, 5, Learned(4, 8), dim=8, layers=1)
    ratio(model, token_before(4, symbols=5, rows=3)(torch.Generator().manual_seed(0)))
    assert all(weight.grad is None for weight in model.parameters())
