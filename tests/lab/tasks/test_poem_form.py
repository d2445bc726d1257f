from pathlib import Path

import pytest
import torch

from gnomon.errors import GnomonError
from gnomon.lab.tasks.base import IGNORED, Classes
from gnomon.lab.tasks.poem_form import PoemForm
from gnomon.lab.tasks.vocabulary import FIRST
from tests.helpers.stored_data import numbered, store


@pytest.fixture(autouse=True)
def poems(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GNOMON_CACHE", str(tmp_path))
    lines = [f"{numbered(0, size)}\t{'0' * size}" for size in (20, 28, 40, 56)]
    store("chinese-poetry", {"train.txt": "\n".join(lines), "test.txt": "\n".join([*lines, lines[0]])})


@pytest.mark.parametrize("window", [20, 13])
def test_windows_have_one_length_and_the_class_is_the_length_of_a_verse(window: int) -> None:
    task = PoemForm(window=window)
    batch = task.batch("test", None, 5, torch.Generator().manual_seed(0))
    assert batch.ids.shape == (5, window + 1)
    assert batch.real is not None
    assert bool(batch.real.all())
    assert task.output == Classes(2)
    # Of the five poems for tests, those of 20 (two) and 40 characters have verses of five.
    assert sorted(batch.labels[:, 0].tolist()) == [0, 0, 0, 1, 1]
    assert bool((batch.labels[:, 1:] == IGNORED).all())
    assert bool((batch.ids[:, 0] == FIRST).all())
    assert task.chance == pytest.approx(0.6)


def test_whole_poems_have_four_classes_in_the_order_of_their_lengths() -> None:
    task = PoemForm(window=0)
    batch = task.batch("train", None, 64, torch.Generator().manual_seed(0))
    assert batch.real is not None
    pairs = {(int(real.sum()) - 1, int(label)) for real, label in zip(batch.real, batch.labels[:, 0], strict=True)}
    assert pairs == {(20, 0), (28, 1), (40, 2), (56, 3)}
    assert task.slots(0) == 57


def test_a_window_longer_than_the_shortest_poem_is_refused() -> None:
    with pytest.raises(GnomonError, match="The shortest poems have 20 characters, got window=21; 0: whole poems"):
        PoemForm(window=21)


@pytest.mark.parametrize("window", [20, 0])
def test_a_batch_of_training_has_more_than_one_class_though_the_file_is_in_the_order_of_forms(window: int) -> None:
    lines = [f"{numbered(60 * row, size)}\t{'0' * size}" for size in (20, 28) for row in range(200)]
    store("chinese-poetry", {"train.txt": "\n".join(lines), "test.txt": lines[0]})
    task = PoemForm(window=window)
    for seed in range(5):
        batch = task.batch("train", None, 16, torch.Generator().manual_seed(seed))
        assert 2 <= int(batch.labels[:, 0].sum()) <= 14  # of 16, eight are expected
