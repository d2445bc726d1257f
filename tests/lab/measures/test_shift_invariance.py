"""Change of the logits when all positions are shifted."""

import pytest
import torch

from gnomon.lab.experiments.context import Context
from gnomon.lab.measures.shift_invariance import ShiftInvariance
from gnomon.lab.tasks.base import Task
from tests.helpers.lab_measured import fresh


@pytest.mark.parametrize("encoding", ["nope", "rotary", "alibi", "t5", "shaw"])
def test_relative_encodings_do_not_see_a_shift(encoding: str) -> None:
    series = ShiftInvariance([1, 13, 500], length=11, rows=3).take(fresh(encoding), Context(0))
    assert series.at == (1, 13, 500)
    assert series.values == pytest.approx((0, 0, 0), abs=1e-4)


@pytest.mark.parametrize("encoding", ["sinusoidal", "learned"])
def test_absolute_encodings_do(encoding: str) -> None:
    series = ShiftInvariance([1, 13], length=11, rows=3).take(fresh(encoding), Context(0))
    assert all(value is not None and value > 0.02 for value in series.values)


def test_it_is_the_change_over_the_spread_of_the_logits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Logits of two classes, (p, -p) plus 5, at positions 1, 2 that move to 3, 4: a change of 2 against sizes 1, 2."""
    trained = fresh()

    def logits(ids: torch.Tensor, real: None, positions: torch.Tensor) -> torch.Tensor:
        p = positions.double()[..., None] + 1
        return torch.cat((p, -p), dim=-1).expand(len(ids), -1, -1) + 5

    monkeypatch.setattr(trained.model, "forward", logits)
    series = ShiftInvariance([2], length=2, rows=3).take(trained, Context(0))
    assert series.value(2) == pytest.approx(2 / ((1 + 4) / 2) ** 0.5)


def test_shifts_beyond_the_table_have_no_number() -> None:
    series = ShiftInvariance([21, 22], length=11, rows=2).take(fresh("learned", max_length=32), Context(0))
    assert series.value(21) is not None
    assert (series.value(22), series.why) == (None, "the encoding has 32 positions")


def test_random_tokens_serve_every_task() -> None:
    from gnomon.lab.tasks.copy import Copy

    task: Task = Copy()
    assert ShiftInvariance([1]).take(fresh("rotary", task), Context(0)).value(1) is not None
