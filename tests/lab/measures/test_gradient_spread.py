"""Spread of gradient norms."""

import pytest

from gnomon.lab.experiments.context import Context
from gnomon.lab.measures.gradient_spread import GradientSpread
from gnomon.lab.training.history import History
from tests.helpers.lab_measured import fresh


def test_percentiles_are_relative_to_the_median_after_the_warm_up() -> None:
    norms = [100.0, 100.0, *(float(n) for n in range(10, 31, 2))]  # 10, 12, ..., 30: median 20
    series = GradientSpread(skip=2).take(fresh(history=History(gradient_norms=norms)), Context(0))
    assert series.at == (10, 25, 75, 90, 99, 100)
    assert series.values == pytest.approx((0.6, 0.75, 1.25, 1.4, 1.49, 1.5))


def test_training_within_the_warm_up_has_no_numbers() -> None:
    series = GradientSpread(skip=2).take(fresh(history=History(gradient_norms=[1.0, 2.0])), Context(0))
    assert set(series.values) == {None}
    assert series.why == "there are no more than 2 steps"
