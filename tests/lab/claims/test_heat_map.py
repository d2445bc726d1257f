"""Claim 32."""

import torch

from gnomon.lab.claims.heat_map import fast_to_slow, flat, swapped
from tests.helpers.claims import measure, verdict


def test_speed_and_flatness_of_a_table_by_hand() -> None:
    table = torch.tensor([[0.0, 0.0, 0.0, 5.0], [1.0, 0.0, 0.5, 5.0], [0.0, 0.0, 1.0, 5.0]], dtype=torch.float64)
    assert flat(table) == 0.5
    assert fast_to_slow(table[:, [0, 1, 0, 2]]) == 2.0


def test_swapped_axes_are_swapped() -> None:
    assert swapped().shape == (100, 512)
    assert torch.allclose(swapped()[0], torch.arange(512).double().sin())


def test_the_picture_of_each_fault_is_a_number() -> None:
    numbers = measure(32)
    assert numbers["fast to slow, healthy"] > 100
    assert numbers["fast to slow, swapped"] < 2
    assert (numbers["flat, healthy"], numbers["flat, zero"]) == (0.0, 1.0)
    assert verdict(32, numbers) == "holds"
    assert verdict(32, {**numbers, "fast to slow, swapped": 50.0}) == "fails"
