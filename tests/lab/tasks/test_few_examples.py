import pytest
import torch

from gnomon.errors import GnomonError
from gnomon.lab.tasks.few_examples import FewExamples
from gnomon.lab.tasks.fixed_offset import FixedOffset

OFFSET = {"task": "fixed_offset", "offset": 3}


def rows(task: FewExamples, seed: int, split: str = "train") -> set[tuple[int, ...]]:
    batch = task.batch(split, None, 200, torch.Generator().manual_seed(seed))  # type: ignore[arg-type]
    return {tuple(row) for row in batch.ids.tolist()}


def test_training_draws_from_the_same_few_rows_for_every_seed_of_a_batch() -> None:
    task = FewExamples(OFFSET, length=20, examples=5)
    assert len(rows(task, 0)) == 5
    assert rows(task, 0) == rows(task, 1)
    assert not rows(task, 0) & rows(FewExamples(OFFSET, length=20, examples=5, subset=1), 0)


def test_labels_stay_with_their_rows() -> None:
    batch = FewExamples(OFFSET, length=20, examples=5).batch("train", 20, 9, torch.Generator().manual_seed(0))
    assert batch.labels[:, 3:].equal(batch.ids[:, :-3])


def test_tests_have_the_rows_of_the_task_itself_at_any_length() -> None:
    task = FewExamples(OFFSET, length=20, examples=5)
    assert len(rows(task, 0, "test")) > 190
    for length in (20, 7):
        own = FixedOffset(offset=3).batch("test", length, 4, torch.Generator().manual_seed(2))
        assert task.batch("test", length, 4, torch.Generator().manual_seed(2)).ids.equal(own.ids)
    assert (task.slots(0), task.slots(7)) == (20, 7)
    assert (task.chance, task.vocabulary, task.sights) == (0.5, 2, ("causal", "both"))


def test_another_length_of_training_and_a_task_without_a_name_are_refused() -> None:
    with pytest.raises(GnomonError, match="rows of length 20, got 7"):
        FewExamples(OFFSET, length=20, examples=5).batch("train", 7, 2, torch.Generator())
    for wrong in ({"offset": 3}, {"task": "few_examples"}):
        with pytest.raises(GnomonError, match="few_examples takes `of`, another task"):
            FewExamples(wrong, length=20, examples=5)
    with pytest.raises(GnomonError, match="takes examples as a whole number of at least 1, got 0"):
        FewExamples(OFFSET, length=20, examples=0)
