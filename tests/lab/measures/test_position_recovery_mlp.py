"""Reading positions from hidden states with a small network."""

import pytest

from gnomon.lab.experiments.context import Context
from gnomon.lab.measures.position_recovery_mlp import PositionRecoveryMLP
from tests.helpers.lab_measured import fresh


def test_sinusoids_are_read_from_the_input_of_the_first_layer() -> None:
    series = PositionRecoveryMLP(length=12, rows=64).take(fresh("sinusoidal", dim=32, num_layers=1), Context(0))
    assert series.values[0] == pytest.approx(0, abs=0.05)


def test_a_model_without_order_is_at_chance_at_every_layer() -> None:
    series = PositionRecoveryMLP(length=12, rows=256).take(fresh("nope", sight="both", num_layers=1), Context(0))
    assert series.at == (0, 1)
    assert series.values == pytest.approx((1, 1), abs=0.06)


def test_a_table_that_is_too_short_has_no_numbers() -> None:
    series = PositionRecoveryMLP(length=9, rows=4).take(fresh("learned", max_length=8), Context(0))
    assert set(series.values) == {None}
