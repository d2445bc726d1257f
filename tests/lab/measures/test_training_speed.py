"""Speed of training."""

import pytest

from gnomon.errors import GnomonError
from gnomon.lab.experiments.context import Context
from gnomon.lab.measures.training_speed import TrainingSpeed
from tests.helpers.lab_measured import fresh


def test_each_length_has_a_ratio_and_the_model_gets_no_gradient() -> None:
    trained = fresh("t5")
    series = TrainingSpeed([4, 9], rows=2, repeats=1).take(trained, Context(0))
    assert series.at == (4, 9)
    assert all(value is not None and 0 < value < 100 for value in series.values)
    assert all(p.grad is None for p in trained.model.parameters())


def test_rows_are_needed() -> None:
    with pytest.raises(GnomonError, match="rows of at least 1, got 0"):
        TrainingSpeed([4], rows=0)
