"""Steps to a target loss."""

import pytest

from gnomon.errors import GnomonError
from gnomon.lab.experiments.context import Context
from gnomon.lab.measures.steps_to_target import StepsToTarget
from gnomon.lab.training.history import History
from gnomon.report.lab.results import Series
from tests.helpers.lab_measured import fresh

LOSSES = [5.0, 1.0, 5.0, 3.0, 2.0, 2.0, 4.0]  # means of 2: 3, 3, 4, 2.5, 2, 3 after steps 2 to 7


def take(target: float, window: int = 2, losses: list[float] = LOSSES) -> Series:
    return StepsToTarget(target, window).take(fresh(history=History(losses=losses)), Context(0))


def test_it_is_the_first_step_whose_window_is_low_enough() -> None:
    assert take(3.0).value() == 2
    assert take(2.5).value() == 5


def test_one_lucky_step_is_not_enough() -> None:
    assert take(1.0, window=1).value() == 2
    assert take(1.0).value() is None


def test_a_target_that_was_not_reached_says_how_near_it_came() -> None:
    assert take(1.5).why == "the lowest mean of 2 steps is 2.000, the target 1.5"


def test_training_shorter_than_the_window_has_no_number() -> None:
    assert take(9.0, window=8).why == "there are too few steps, the target 9"


def test_a_window_of_no_steps_is_refused() -> None:
    with pytest.raises(GnomonError, match="window of at least 1, got 0"):
        StepsToTarget(1.0, window=0)
