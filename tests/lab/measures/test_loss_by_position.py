"""Loss by position."""

import math

import pytest
import torch

from gnomon.lab.experiments.context import Context
from gnomon.lab.measures import Trained
from gnomon.lab.measures.loss_by_position import LossByPosition
from gnomon.lab.tasks.copy import Copy
from tests.helpers.lab_measured import Count, fresh


def test_each_run_of_slots_has_the_mean_of_its_losses(monkeypatch: pytest.MonkeyPatch) -> None:
    """The right class has the logit log(slot + 1), the six others 0: a loss of log(1 + 6 / (slot + 1))."""

    def logits(self: Trained, batch: object, generator: object) -> torch.Tensor:
        rows = Count().batch("test", 5, 3, Context(4).generator("measure", "loss_by_position"))
        sizes = torch.log(torch.arange(1.0, 6.0))[None, :, None]
        return torch.nn.functional.one_hot(rows.labels, 7) * sizes

    monkeypatch.setattr(Trained, "logits", logits)
    series = LossByPosition(length=5, bucket=2, rows=3).take(fresh(), Context(4))
    one = [math.log(1 + 6 / (slot + 1)) for slot in range(5)]
    assert series.at == (0, 2, 4)
    assert series.values == pytest.approx(((one[0] + one[1]) / 2, (one[2] + one[3]) / 2, one[4]))


def test_slots_that_are_not_scored_have_no_number() -> None:
    series = LossByPosition(length=3, bucket=4, rows=2).take(
        fresh(task=Copy()), Context(0)
    )  # 8 slots, 4 of them scored
    assert series.value(0) is None
    assert series.value(4) is not None
    assert series.why == "no slot there is scored"


def test_a_table_that_is_too_short_has_no_numbers() -> None:
    series = LossByPosition(length=9, rows=2).take(fresh("learned", max_length=8), Context(0))
    assert (series.values, series.why) == ((None,), "there are positions for 8 slots only")
