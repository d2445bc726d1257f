"""Positions of a batch: counted, from a random start, or a random choice."""

import pytest
import torch

from gnomon.errors import GnomonError, PositionError
from gnomon.lab.tasks.base import Batch
from gnomon.lab.training.options import Placing
from gnomon.lab.training.placing import place


def rows(real: list[list[int]] | None = None) -> Batch:
    ids = torch.zeros(3, 5, dtype=torch.int64)
    return Batch(ids, ids, None if real is None else torch.tensor(real, dtype=torch.bool))


PADDED = rows([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0], [1, 0, 0, 0, 0]])


def drawn(placing: Placing, split: str, batch: Batch, seed: int = 0) -> torch.Tensor | None:
    return place(placing, batch, split, torch.Generator().manual_seed(seed))  # type: ignore[arg-type]


@pytest.mark.parametrize("split", ["train", "test"])
def test_counted_positions_are_left_to_the_model(split: str) -> None:
    assert drawn(Placing(), split, rows()) is None


def test_offsets_start_anywhere_that_leaves_room_and_every_row_anew() -> None:
    starts: set[int] = set()
    for seed in range(60):
        positions = drawn(Placing("offset", 9), "train", rows(), seed)
        assert positions is not None
        assert positions.dtype == torch.int64
        assert torch.equal(positions - positions[:, :1], torch.arange(5).expand(3, 5))
        starts |= set(positions[:, 0].tolist())
    assert starts == {0, 1, 2, 3, 4}  # 9 positions hold 5 slots from 5 places


def test_offsets_are_for_training_alone() -> None:
    assert drawn(Placing("offset", 9), "test", rows()) is None


@pytest.mark.parametrize("split", ["train", "test"])
def test_a_random_choice_rises_and_stays_below_its_limit_in_training_and_in_tests(split: str) -> None:
    seen: set[int] = set()
    for seed in range(40):
        positions = drawn(Placing("random", 11), split, rows(), seed)
        assert positions is not None
        assert bool((positions.diff() > 0).all())
        seen |= set(positions.flatten().tolist())
    assert seen == set(range(11))


@pytest.mark.parametrize("kind", ["offset", "random"])
def test_padding_does_not_use_up_positions(kind: str) -> None:
    positions = drawn(Placing(kind, 11), "train", PADDED)  # type: ignore[arg-type]
    assert positions is not None
    whole = positions[0]
    assert len(set(whole.tolist())) == 5
    assert bool((positions[1, :3].diff() > 0).all())


def test_a_row_that_does_not_fit_is_named_with_the_limit() -> None:
    with pytest.raises(PositionError, match="5 slots does not fit into 4 positions; raise the limit"):
        drawn(Placing("offset", 4), "train", rows())


@pytest.mark.parametrize(
    ("fields", "words"),
    [({"kind": "sorted"}, "counted, offset or random, got 'sorted'"), ({"kind": "random"}, "need a limit")],
)
def test_impossible_placing_is_refused(fields: dict[str, str], words: str) -> None:
    with pytest.raises(GnomonError, match=words):
        Placing(**fields)  # type: ignore[arg-type]
