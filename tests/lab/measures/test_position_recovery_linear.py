"""Reading positions from hidden states with a linear map."""

import pytest

from gnomon.errors import GnomonError
from gnomon.lab.experiments.context import Context
from gnomon.lab.measures.position_recovery_linear import PositionRecoveryLinear
from tests.helpers.lab_measured import fresh


def test_sinusoids_are_read_from_the_input_of_the_first_layer() -> None:
    trained = fresh("sinusoidal", dim=32)
    series = PositionRecoveryLinear(length=16, rows=64).take(trained, Context(0))
    assert series.at == (0, 1, 2)
    assert series.values[0] == pytest.approx(0, abs=0.05)


def test_a_model_without_order_is_at_chance_at_every_layer() -> None:
    """A theorem: without an encoding and without a causal mask, slots with the same token have the same state."""
    for seed in (0, 1):
        series = PositionRecoveryLinear(length=16, rows=256).take(fresh("nope", seed=seed, sight="both"), Context(seed))
        assert series.values == pytest.approx((1, 1, 1), abs=0.06)


def test_a_causal_mask_tells_positions_after_the_first_layer_only() -> None:
    series = PositionRecoveryLinear(length=16, rows=256).take(fresh("nope"), Context(0))
    assert series.values[0] == pytest.approx(1, abs=0.06)
    assert series.values[2] is not None
    assert series.values[2] < 0.9


def test_a_table_that_is_too_short_has_no_numbers() -> None:
    series = PositionRecoveryLinear(length=9, rows=4).take(fresh("learned", max_length=8), Context(0))
    assert (series.values, series.why) == ((None, None, None), "there are positions for 8 slots only")


def test_one_row_leaves_nothing_to_hold_out() -> None:
    with pytest.raises(GnomonError, match="2 rows at least, got length=9, rows=1"):
        PositionRecoveryLinear(length=9, rows=1)
