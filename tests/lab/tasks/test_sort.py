import pytest

from gnomon.errors import GnomonError
from gnomon.lab.tasks.sort import Sort
from tests.helpers.generated_tasks import check_answers, check_contract, real_rows, rows_of


def solver(ids: list[int]) -> list[int]:
    """Selection sort: take the lowest id that is left, until none is."""
    middle = ids.index(1)
    left, ordered = ids[1:middle], []
    while left:
        ordered.append(left.pop(left.index(min(left))))
    assert ids[0] == 0
    assert ids[middle + 1 :] == ordered
    return [-100] * middle + ordered + [2]


@pytest.mark.parametrize("unique", [True, False])
def test_the_answer_is_the_string_in_order(unique: bool) -> None:
    check_answers(Sort(symbols=13, unique=unique), (1, 2, 5, 12), solver)


def test_rows_keep_the_contract() -> None:
    check_contract(Sort(symbols=9), 1, 9)
    check_contract(Sort(symbols=3, unique=False), 1)


def test_strings_are_not_in_order_yet_and_repeat_only_when_they_may() -> None:
    strings = [ids[1:7] for ids, _ in real_rows(rows_of(Sort(symbols=9), 6, 20))]
    assert all(string != sorted(string) and len(set(string)) == 6 for string in strings)
    strings = [ids[1:7] for ids, _ in real_rows(rows_of(Sort(symbols=9, unique=False), 6, 20))]
    assert any(len(set(string)) < 6 for string in strings)


def test_a_guess_by_slot_beats_every_symbol_alike_so_there_is_no_one_chance_level() -> None:
    first = rows_of(Sort(symbols=6), 5, 400).labels[:, 6].tolist()
    assert first.count(3) / 400 == pytest.approx(5 / 6, abs=0.06)  # the lowest is missing in one string of six
    assert Sort(symbols=6).chance is None


def test_bad_options_are_refused() -> None:
    with pytest.raises(GnomonError, match="symbols"):
        Sort(symbols=0)
    with pytest.raises(GnomonError, match="unique"):
        Sort(unique=3)  # type: ignore[arg-type]
