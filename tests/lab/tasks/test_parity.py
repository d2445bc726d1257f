from gnomon.lab.tasks.parity import Parity
from tests.helpers.generated_tasks import best_guess, check_answers, check_contract, rows_of


def solver(ids: list[int]) -> list[int]:
    """Count the ones."""
    *bits, mark = ids
    assert mark == 2
    assert set(bits) <= {0, 1}
    return [-100] * len(bits) + [1 if bits.count(1) in range(1, len(ids), 2) else 0]


def test_the_answer_is_whether_the_ones_are_odd() -> None:
    check_answers(Parity(), (1, 2, 3, 8, 31), solver)


def test_rows_keep_the_contract() -> None:
    check_contract(Parity(), 1)


def test_chance_is_a_half() -> None:
    for length in (1, 4, 9):
        assert abs(Parity().chance - best_guess(rows_of(Parity(), length, 4000))) < 0.03
