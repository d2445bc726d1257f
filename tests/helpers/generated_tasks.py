"""What every generated task must keep, and rows of it as plain lists of numbers."""

from collections import Counter
from collections.abc import Callable, Iterator

import pytest
import torch

from gnomon.errors import GnomonError
from gnomon.lab.tasks import IGNORED, Batch, Task

#: From the ids of the real slots of a row to the labels of all of them, IGNORED where nothing is scored.
Solver = Callable[[list[int]], list[int]]


def rows_of(task: Task, length: int, size: int = 5, *, seed: int = 0) -> Batch:
    return task.batch("test", length, size, torch.Generator().manual_seed(seed))


def real_rows(batch: Batch) -> Iterator[tuple[list[int], list[int]]]:
    """The ids and the labels of each row, without its padding, which must be unscored and at the end."""
    for index, (ids, labels) in enumerate(zip(batch.ids.tolist(), batch.labels.tolist(), strict=True)):
        count = len(ids) if batch.real is None else int(batch.real[index].sum())
        assert batch.real is None or batch.real[index, :count].all()
        assert set(labels[count:]) <= {IGNORED}
        yield ids[:count], labels[:count]


def check_answers(task: Task, lengths: tuple[int, ...], solver: Solver, *, size: int = 40) -> None:
    """Every label is what a plain reading of the row gives, at every length; rows and answers are not all the same."""
    for length in lengths:
        batch = rows_of(task, length, size, seed=length)
        for ids, labels in real_rows(batch):
            assert labels == solver(ids), (length, ids)
    assert len({tuple(ids) for ids, _ in real_rows(batch)}) > size // 2
    assert len({tuple(labels) for _, labels in real_rows(batch)}) > 1


def check_contract(task: Task, lowest: int, highest: int | None = None) -> None:
    """Slots, ids, dtypes, seeds and refused lengths."""
    top = lowest + 8 if highest is None else highest
    for length in sorted({lowest, min(lowest + 1, top), min(lowest + 4, top), top}):
        batch = rows_of(task, length, 3)
        assert batch.ids.shape == batch.labels.shape == (3, task.slots(length))
        assert batch.ids.dtype == batch.labels.dtype == torch.int64
        assert int(batch.ids.min()) >= 0
        assert int(batch.ids.max()) < task.vocabulary
        scored = batch.labels[batch.labels != IGNORED]
        assert int(scored.min()) >= 0
        assert int(scored.max()) < task.answer_vocabulary
        assert bool((batch.labels != IGNORED).any(-1).all())
    assert rows_of(task, top, 8, seed=3).ids.equal(rows_of(task, top, 8, seed=3).ids)
    assert not rows_of(task, top, 8, seed=3).ids.equal(rows_of(task, top, 8, seed=4).ids)
    for bad in (lowest - 1, 0, -3, None if highest is None else highest + 1, None):
        with pytest.raises(GnomonError, match="length"):
            task.batch("train", bad, 2, torch.Generator().manual_seed(0))


def best_guess(batch: Batch, slots: slice = slice(None)) -> float:
    """The accuracy of the most frequent label of each scored slot: the best that one can do without looking."""
    right = scored = 0
    for column in batch.labels.T[slots].tolist():
        told = [label for label in column if label != IGNORED]
        right += max(Counter(told).values(), default=0)
        scored += len(told)
    return right / scored
