import pytest

from gnomon.errors import GnomonError
from gnomon.lab.tasks.associative_recall import AssociativeRecall
from tests.helpers.generated_tasks import best_guess, check_answers, check_contract, real_rows, rows_of

KEYS, VALUES = 12, 5


def two_tokens(ids: list[int]) -> list[int]:
    *told, asked = ids
    book = {}
    for key, value in zip(told[::2], told[1::2], strict=True):
        assert key < KEYS <= value < KEYS + VALUES
        assert key not in book
        book[key] = value - KEYS
    return [-100] * len(told) + [book[asked]]


def one_token(ids: list[int]) -> list[int]:
    *told, asked = ids
    assert all(each >= KEYS for each in told)
    book = dict(divmod(each - KEYS, VALUES) for each in told)
    assert len(book) == len(told)
    return [-100] * len(told) + [book[asked]]


def test_the_answer_is_the_value_of_the_key() -> None:
    check_answers(AssociativeRecall(KEYS, VALUES), (1, 2, 5, 12), two_tokens)
    check_answers(AssociativeRecall(KEYS, VALUES, pairs="one_token"), (1, 2, 5, 12), one_token)


def test_rows_keep_the_contract() -> None:
    check_contract(AssociativeRecall(KEYS, VALUES), 1, KEYS)
    check_contract(AssociativeRecall(KEYS, VALUES, pairs="one_token"), 1, KEYS)


def test_every_pair_is_asked_for_as_often() -> None:
    places = [ids[:-1:2].index(ids[-1]) for ids, _ in real_rows(rows_of(AssociativeRecall(), 4, 2000))]
    assert all(places.count(place) / 2000 == pytest.approx(1 / 4, abs=0.04) for place in range(4))


def test_chance_is_that_of_the_most_frequent_value() -> None:
    task = AssociativeRecall(values=4)
    assert task.chance == pytest.approx(best_guess(rows_of(task, 3, 4000)), abs=0.03)


def test_bad_options_are_refused() -> None:
    for bad in ({"keys": 0}, {"values": 1}, {"pairs": "three"}):
        with pytest.raises(GnomonError, match=f"takes {next(iter(bad))} as"):
            AssociativeRecall(**bad)  # type: ignore[arg-type]
