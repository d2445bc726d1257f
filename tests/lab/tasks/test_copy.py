import pytest

from gnomon.errors import GnomonError
from gnomon.lab.tasks.copy import Copy
from tests.helpers.generated_tasks import best_guess, check_answers, check_contract, real_rows, rows_of


def solver(ids: list[int]) -> list[int]:
    """`<start> s <separator> s`: each slot from the separator on tells the symbol after it, the last one the end."""
    middle = ids.index(1)
    assert ids[0] == 0
    assert ids[1:middle] == ids[middle + 1 :]
    return [-100] * middle + ids[1:middle] + [2]


@pytest.mark.parametrize("unique", [True, False])
def test_the_answer_is_the_string_itself(unique: bool) -> None:
    check_answers(Copy(symbols=11, unique=unique), (1, 2, 5, 11), solver)


def test_rows_keep_the_contract() -> None:
    check_contract(Copy(symbols=9), 1, 9)
    check_contract(Copy(symbols=2, unique=False), 1)


def test_unique_strings_repeat_no_symbol_and_others_do() -> None:
    strings = [ids[1:8] for ids, _ in real_rows(rows_of(Copy(symbols=9), 7, 20))]
    assert all(len(set(string)) == 7 for string in strings)
    strings = [ids[1:8] for ids, _ in real_rows(rows_of(Copy(symbols=9, unique=False), 7, 20))]
    assert any(len(set(string)) < 7 for string in strings)


def test_chance_is_that_of_the_most_frequent_symbol() -> None:
    task = Copy(symbols=4)
    assert task.chance == pytest.approx(best_guess(rows_of(task, 3, 4000), slice(-1)), abs=0.03)


def test_bad_options_are_refused() -> None:
    for bad in (Copy, 0), (Copy, 2.5):
        with pytest.raises(GnomonError, match="symbols"):
            bad[0](bad[1])  # type: ignore[arg-type]
    with pytest.raises(GnomonError, match="unique"):
        Copy(unique="no")  # type: ignore[arg-type]
