import pytest

from gnomon.errors import GnomonError
from gnomon.lab.tasks.previous_token import PreviousToken
from tests.helpers.generated_tasks import best_guess, check_answers, check_contract, rows_of


def solver(ids: list[int]) -> list[int]:
    labels, before = [], -100
    for each in ids:
        labels.append(before)
        before = each
    return labels


def test_the_answer_is_the_token_before() -> None:
    check_answers(PreviousToken(), (2, 3, 8, 21), solver)


def test_rows_keep_the_contract() -> None:
    check_contract(PreviousToken(symbols=3), 2)


def test_chance_is_that_of_the_most_frequent_symbol() -> None:
    task = PreviousToken(symbols=5)
    assert task.chance == pytest.approx(best_guess(rows_of(task, 7, 4000)), abs=0.03)


def test_bad_options_are_refused() -> None:
    with pytest.raises(GnomonError, match="takes symbols as a whole number of at least 2, got 1"):
        PreviousToken(symbols=1)
