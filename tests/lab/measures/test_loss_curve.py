"""The loss along training."""

import pytest

from gnomon.errors import GnomonError
from gnomon.lab.experiments.context import Context
from gnomon.lab.measures.loss_curve import LossCurve
from gnomon.lab.training.history import History
from gnomon.report.lab.results import Series
from tests.helpers.lab_measured import fresh


def take(window: int, losses: list[float]) -> Series:
    return LossCurve(window).take(fresh(history=History(losses=losses)), Context(0))


def test_each_number_is_the_mean_of_a_run_of_steps_and_stands_at_its_last() -> None:
    series = take(2, [4.0, 2.0, 1.0, 2.0, 9.0])
    assert (series.at, series.values) == ((2, 4), (3.0, 1.5))


def test_training_shorter_than_a_run_has_no_number_and_says_why() -> None:
    series = take(3, [4.0, 2.0])
    assert series.value() is None
    assert series.why == "there are 2 steps, fewer than the 3 of one number"


def test_a_run_of_no_steps_is_refused() -> None:
    with pytest.raises(GnomonError, match="window of at least 1, got 0"):
        LossCurve(window=0)
