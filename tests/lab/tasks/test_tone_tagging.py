from pathlib import Path

import pytest
import torch

from gnomon.errors import GnomonError
from gnomon.lab.tasks.base import IGNORED
from gnomon.lab.tasks.tone_tagging import ToneTagging
from gnomon.lab.tasks.vocabulary import HIDDEN
from tests.helpers.stored_data import numbered, store


@pytest.fixture(autouse=True)
def poems(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A quatrain of 20 and one of 28 characters in each part, every one of which is twice in training."""
    monkeypatch.setenv("GNOMON_CACHE", str(tmp_path))
    short, long = f"{numbered(0, 20)}\t{'01012' * 4}", f"{numbered(0, 28)}\t{'0110013' * 4}"
    store("chinese-poetry", {"train.txt": f"{short}\n{long}\n{short}", "test.txt": f"{short}\n{long}"})


def test_hidden_characters_alone_are_scored_and_their_id_says_nothing() -> None:
    task = ToneTagging(hidden=0.5)
    seen = ToneTagging(hidden=0.0).batch("train", 20, 64, torch.Generator().manual_seed(0))
    batch = task.batch("train", 20, 64, torch.Generator().manual_seed(0))
    hidden = batch.ids == HIDDEN
    assert 0.4 < float(hidden.float().mean()) < 0.6
    assert bool((batch.ids[~hidden] == seen.ids[~hidden]).all())
    assert bool((batch.labels[~hidden] == IGNORED).all())
    assert bool((batch.labels[hidden] == seen.labels[hidden]).all())


def test_level_is_0_oblique_is_1_and_what_can_be_either_is_not_scored() -> None:
    task = ToneTagging(hidden=0.0)
    assert task.batch("test", 20, 1, torch.Generator()).labels.tolist() == [[0, 1, 0, 1, IGNORED] * 4]
    assert task.batch("test", 28, 1, torch.Generator()).labels.tolist() == [[0, 1, 1, 0, 0, 1, IGNORED] * 4]


def test_padding_is_never_hidden() -> None:
    batch = ToneTagging(hidden=1.0).batch("train", None, 32, torch.Generator().manual_seed(0))
    assert batch.real is not None
    assert bool((batch.ids[batch.real] == HIDDEN).all())
    assert bool((batch.ids[~batch.real] == 0).all())
    assert bool((batch.labels[~batch.real] == IGNORED).all())


def test_lengths_are_exact() -> None:
    assert ToneTagging().batch("train", 28, 8, torch.Generator()).ids.shape == (8, 28)
    with pytest.raises(GnomonError, match="no rows of length 24"):
        ToneTagging().batch("train", 24, 8, torch.Generator())


def test_chance_is_the_share_of_the_more_frequent_tone() -> None:
    # 20 characters: 8 level, 8 oblique. 28 characters: 12 level, 12 oblique.
    assert ToneTagging().chance == 0.5


def test_a_share_outside_of_0_to_1_is_refused() -> None:
    with pytest.raises(GnomonError, match=r"takes hidden as a number from 0 to 1, got 1\.5"):
        ToneTagging(hidden=1.5)
