from pathlib import Path

import pytest
import torch

from gnomon.errors import GnomonError
from gnomon.lab.tasks.base import IGNORED
from gnomon.lab.tasks.characters import Characters
from tests.helpers.stored_data import store

TRAIN, TEST = bytes(range(65, 90)).decode(), bytes(range(97, 122)).decode()


@pytest.fixture
def novel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Characters:
    """A to Y to train on, a to y for tests: a token tells its place."""
    monkeypatch.setenv("GNOMON_CACHE", str(tmp_path))
    store("austen", {"train.txt": TRAIN, "test.txt": TEST})
    return Characters("austen")


def test_every_slot_predicts_the_byte_after_it(novel: Characters) -> None:
    for split, low in (("train", 65), ("test", 97)):
        batch = novel.batch(split, 7, 50, torch.Generator().manual_seed(0))  # type: ignore[arg-type]
        assert batch.ids.shape == (50, 7)
        assert batch.ids.dtype == batch.labels.dtype == torch.int64
        assert bool((batch.labels == batch.ids + 1).all())
        assert batch.ids.min() == low
        assert batch.labels.max() == low + 24  # the last byte is a label, and never an input
        assert bool((batch.ids < low + 24).all())


def test_segments_cover_the_same_text_at_every_length(novel: Characters) -> None:
    for length in (3, 4, 12):
        batch = novel.segments(length, 24)
        assert batch.ids.flatten().tolist() == list(range(97, 97 + 24))
        assert batch.scored == 24


def test_endings_score_the_same_tokens_after_more_context(novel: Characters) -> None:
    scored = {}
    for length in (3, 5, 9):
        batch = novel.endings(length, last=2, rows=4, longest=9)
        assert batch.ids.shape == (4, length)
        scored[length] = batch.labels[batch.labels != IGNORED].tolist()
        assert len(scored[length]) == 8
    assert scored[3] == scored[5] == scored[9]
    # The four places are spread evenly from 9 tokens on to the end: they end at tokens 9, 14, 19 and 24.
    assert scored[9][1::2] == [97 + 9, 97 + 14, 97 + 19, 97 + 24]


def test_lengths_that_the_text_has_not_are_refused(novel: Characters) -> None:
    with pytest.raises(GnomonError, match="rows of length 1 to 24, got 25"):
        novel.batch("train", 25, 1, torch.Generator())
    with pytest.raises(GnomonError, match="say the length of its rows"):
        novel.batch("train", None, 1, torch.Generator())
    with pytest.raises(GnomonError, match="The test text has 25 tokens"):
        novel.segments(5, 25)


def test_the_vocabulary_of_chinese_text_is_its_frequent_characters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GNOMON_CACHE", str(tmp_path))
    store("chinese-classics", {"train.txt": "道可道非常道", "test.txt": "道可名"})
    task = Characters("chinese-classics")
    assert task.vocabulary == 5  # 道, 可, 常, 非 and the unknown one
    assert task.batch("test", 2, 1, torch.Generator()).labels.tolist() == [[2, 0]]
