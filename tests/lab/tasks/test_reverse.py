import pytest

from gnomon.errors import GnomonError
from gnomon.lab.tasks import Classes, NextToken
from gnomon.lab.tasks.reverse import Reverse
from tests.helpers.generated_tasks import best_guess, check_answers, check_contract, rows_of


def written(ids: list[int]) -> list[int]:
    """`<start> s <separator> reversed`, read from the end of s."""
    middle = ids.index(1)
    answer = [ids[place] for place in range(middle - 1, 0, -1)]
    assert ids[0] == 0
    assert ids[middle + 1 :] == answer
    return [-100] * middle + answer + [2]


def at_slots(ids: list[int]) -> list[int]:
    """s and as many query tokens 0; the class of symbol id 1 is 0."""
    half = len(ids) // 2
    assert ids[half:] == [0] * half
    assert 0 not in ids[:half]
    return [-100] * half + [ids[half - 1 - place] - 1 for place in range(half)]


@pytest.mark.parametrize("unique", [True, False])
def test_the_written_answer_is_the_string_from_its_end(unique: bool) -> None:
    check_answers(Reverse(symbols=11, unique=unique), (1, 2, 5, 11), written)


@pytest.mark.parametrize(("symbols", "unique"), [(2, False), (11, True)])
def test_query_slots_tell_the_string_from_its_end(symbols: int, unique: bool) -> None:
    check_answers(Reverse(symbols, unique, form="slots"), (1, 2, 7, 11), at_slots)


def test_rows_keep_the_contract() -> None:
    check_contract(Reverse(symbols=9), 1, 9)
    check_contract(Reverse(symbols=2, unique=False), 1)
    check_contract(Reverse(symbols=2, unique=False, form="slots"), 1)


def test_the_forms_differ_in_what_is_predicted_and_by_whom() -> None:
    one, other = Reverse(), Reverse(symbols=2, unique=False, form="slots")
    assert (one.output, one.sights, one.autoregressive) == (NextToken(), ("causal",), True)
    assert (other.output, other.sights, other.autoregressive) == (Classes(2), ("both", "causal"), False)


def test_chance_is_that_of_the_most_frequent_symbol() -> None:
    task = Reverse(symbols=4)
    assert task.chance == pytest.approx(best_guess(rows_of(task, 3, 4000), slice(-1)), abs=0.03)
    task = Reverse(symbols=2, unique=False, form="slots")
    assert task.chance == pytest.approx(best_guess(rows_of(task, 5, 4000)), abs=0.03)


def test_bad_options_are_refused() -> None:
    for bad in ({"symbols": 0}, {"unique": "yes"}, {"form": "encoder"}):
        with pytest.raises(GnomonError, match=f"takes {next(iter(bad))} as"):
            Reverse(**bad)  # type: ignore[arg-type]
