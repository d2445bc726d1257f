import pytest

from gnomon.errors import GnomonError
from gnomon.lab.tasks.fixed_offset import FixedOffset
from tests.helpers.generated_tasks import Solver, best_guess, check_answers, check_contract, rows_of


def solver(offset: int) -> Solver:
    return lambda ids: [ids[t - offset] if t >= offset else -100 for t in range(len(ids))]


@pytest.mark.parametrize(("offset", "symbols"), [(1, 2), (2, 2), (5, 3)])
def test_the_answer_is_the_symbol_so_many_slots_before(offset: int, symbols: int) -> None:
    check_answers(FixedOffset(offset, symbols), (offset + 1, offset + 2, 12, 33), solver(offset))


def test_rows_keep_the_contract() -> None:
    check_contract(FixedOffset(), 3)
    check_contract(FixedOffset(offset=1, symbols=7), 2)


def test_chance_is_that_of_the_most_frequent_symbol() -> None:
    for symbols in (2, 5):
        task = FixedOffset(symbols=symbols)
        assert task.chance == pytest.approx(best_guess(rows_of(task, 7, 4000)), abs=0.03)


def test_bad_options_are_refused() -> None:
    for bad in ({"offset": 0}, {"symbols": 1}):
        with pytest.raises(GnomonError, match=f"takes {next(iter(bad))} as a whole number"):
            FixedOffset(**bad)
