from pathlib import Path

import pytest
import torch

from gnomon.errors import GnomonError
from gnomon.lab.tasks.base import IGNORED, Slots
from gnomon.lab.tasks.dependency_heads import DependencyHeads
from gnomon.lab.tasks.vocabulary import FIRST
from tests.helpers.stored_data import store

TREES = "Fica em a costa\t0 4 4 1\nFica\t0\nem a\t2 0"


@pytest.fixture(autouse=True)
def trees(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GNOMON_CACHE", str(tmp_path))
    store("petrogold", {"train.txt": TREES, "test.txt": TREES.splitlines()[0]})


def test_the_label_of_a_word_is_the_slot_of_its_head() -> None:
    task = DependencyHeads()
    batch = task.batch("test", None, 1, torch.Generator())
    # Slot 0 is the root, so "Fica" is slot 1 and "costa" slot 4.
    assert batch.labels.tolist() == [[IGNORED, 0, 4, 4, 1]]
    assert batch.ids[0, 0] == FIRST
    assert task.output == Slots()
    assert task.answer_vocabulary == 0


def test_heads_never_point_at_padding() -> None:
    batch = DependencyHeads().batch("train", None, 32, torch.Generator().manual_seed(0))
    assert batch.real is not None
    scored = batch.labels != IGNORED
    assert bool(batch.real.gather(1, batch.labels.clamp(min=0))[scored].all())


def test_chance_is_the_most_frequent_distance() -> None:
    # From slots 1, 2, 3, 4 to 0, 4, 4, 1: distances -1, 2, 1, -3, each once.
    assert DependencyHeads().chance == 0.25


def test_long_sentences_are_left_out() -> None:
    with pytest.raises(GnomonError, match="No sentence has 3 words or fewer; raise longest"):
        DependencyHeads(longest=3)
    store("petrogold", {"train.txt": TREES, "test.txt": TREES})
    task = DependencyHeads(longest=2)
    assert sorted(task.parts["train"].sizes.tolist()) == [2, 3]
