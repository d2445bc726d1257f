"""Claims 20, 21, 23 and 24."""

import math

import pytest
import torch

from gnomon.encodings import Rotary
from gnomon.lab.claims.rotary import shift_error
from tests.helpers.claims import measure, verdict


def test_scores_are_relative_and_the_formula_is_met() -> None:
    numbers = measure(20)
    assert max(numbers.values()) < 1e-9
    assert verdict(20, numbers) == "holds"
    assert verdict(20, {**numbers, "shift error": 1e-3}) == "fails"


def test_a_rotation_of_queries_alone_would_be_noticed() -> None:
    class Half(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.rotary = Rotary(8)

        def rotate_query(self, q: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
            return self.rotary.rotate_query(q, positions)

        def rotate_key(self, k: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
            return k

    q, k = torch.randn(2, 1, 1, 5, 8, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    assert shift_error(Half(), q, k) > 0.01  # type: ignore[arg-type]


def test_with_the_width_of_the_model_no_pair_is_slow() -> None:
    numbers = measure(21)
    assert numbers["slowest wavelength"] == pytest.approx(2 * math.pi * 10000 ** (62 / 64))
    assert numbers["slowest wavelength with d_model"] == pytest.approx(2 * math.pi * 10000 ** (62 / 512))
    assert numbers["largest ratio"] == pytest.approx(10000 ** (62 / 64 - 62 / 512))
    assert verdict(21, numbers) == "fails"
    assert verdict(21, {**numbers, "slowest wavelength with d_model": 47_000.0}) == "holds"


def test_quarter_turns_miss_an_angle_of_one_radian() -> None:
    numbers = measure(23)
    assert numbers["smallest error"] == pytest.approx(math.dist((math.cos(1), math.sin(1)), (0, 1)))
    assert numbers["different results"] <= 4
    assert numbers["ours"] < 1e-9
    assert verdict(23, numbers) == "fails"
    assert verdict(23, {**numbers, "smallest error": 1e-12}) == "holds"


def test_odd_widths_are_refused_and_both_ways_round_them_work() -> None:
    numbers = measure(24)
    assert numbers["odd width refused"] == 1.0
    assert max(numbers["shift error, partial"], numbers["shift error, padded"]) < 1e-9
    assert verdict(24, numbers) == "depends"
    assert verdict(24, {**numbers, "shift error, padded": 0.1}) == "fails"
