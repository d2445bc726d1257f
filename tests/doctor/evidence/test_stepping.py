"""One training step on copies."""

import torch
from torch.optim import SGD

from gnomon.doctor.evidence.stepping import training_step
from tests.helpers.toys import Toy, subject_of


def test_rows_in_the_batch_move_and_no_others() -> None:
    step = training_step(subject_of(Toy(), batches=[{"tokens": torch.full((2, 6), 7)}]))
    [moved] = step.positions
    assert (moved.name, moved.rows, step.trained) == ("positions.weight", 6, False)
    assert step.words is not None
    assert step.words.rows == 1


def test_the_callers_optimizer_and_module_are_copied_together() -> None:
    model = Toy()
    optimizer = SGD(model.parameters(), lr=1.0)
    before = model.positions.weight.detach().clone()
    step = training_step(subject_of(model, optimizer=optimizer))
    assert step.trained
    assert step.positions[0].change > 0
    assert torch.equal(before, model.positions.weight)
