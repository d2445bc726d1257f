"""Loss at the end of training."""

import pytest

from gnomon.errors import GnomonError
from gnomon.lab.experiments.context import Context
from gnomon.lab.measures.training_loss import TrainingLoss
from gnomon.lab.training.history import History
from tests.helpers.lab_measured import fresh


def test_it_is_the_mean_of_the_last_part_of_the_steps() -> None:
    trained = fresh(history=History(losses=[9.0, 8.0, 4.0, 2.0]))
    assert TrainingLoss(share=0.5).take(trained, Context(0)).value() == 3.0


def test_a_short_training_has_one_last_step() -> None:
    assert TrainingLoss(share=0.1).take(fresh(history=History(losses=[9.0, 2.0])), Context(0)).value() == 2.0


def test_without_training_there_is_no_number() -> None:
    series = TrainingLoss().take(fresh(), Context(0))
    assert (series.value(), series.why) == (None, "nothing was trained")


def test_a_share_of_nothing_is_refused() -> None:
    with pytest.raises(GnomonError, match="above 0 and up to 1, got 0"):
        TrainingLoss(share=0)
