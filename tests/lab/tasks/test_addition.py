import pytest

from gnomon.errors import GnomonError
from gnomon.lab.tasks.addition import Addition, Answer
from tests.helpers.generated_tasks import Solver, best_guess, check_answers, check_contract, real_rows, rows_of


def numbers(ids: list[int]) -> tuple[str, str, str]:
    """The two numbers and what is written after "=", as strings."""
    text = "".join("0123456789+=<>"[each] for each in ids)
    asked, answer = text.split("=")
    a, b = asked.removeprefix("<").split("+")
    return a, b, answer


def solver(answer: Answer) -> Solver:
    def solve(ids: list[int]) -> list[int]:
        a, b, written = numbers(ids)
        total = str(int(a) + int(b))
        told = total if answer == "forwards" else "".join(reversed(total))
        assert written == told
        return [-100] * (len(ids) - len(told) - 1) + [int(digit) for digit in told] + [13]

    return solve


@pytest.mark.parametrize("answer", ["forwards", "reversed"])
def test_the_answer_is_the_sum(answer: Answer) -> None:
    check_answers(Addition(answer), (1, 2, 3, 7, 21), solver(answer))


@pytest.mark.parametrize("answer", ["forwards", "reversed"])
def test_rows_keep_the_contract(answer: Answer) -> None:
    check_contract(Addition(answer), 1)


def test_numbers_have_the_length_asked_for_and_only_a_single_digit_may_be_0() -> None:
    for ids, _ in real_rows(rows_of(Addition(), 5, 200)):
        a, b, _ = numbers(ids)
        assert len(str(int(a))) == len(str(int(b))) == 5
    assert "0" in {numbers(ids)[0] for ids, _ in real_rows(rows_of(Addition(), 1, 200))}


def test_rows_without_a_carry_are_one_shorter_and_both_kinds_occur() -> None:
    batch = rows_of(Addition(), 3, 200)
    assert batch.real is not None
    for index, (ids, _) in enumerate(real_rows(batch)):
        a, b, _ = numbers(ids)
        assert bool(batch.real[index, -1]) == (int(a) + int(b) >= 1000)
    assert 20 < int(batch.real[:, -1].sum()) < 180


def test_chance_is_that_of_one_digit() -> None:
    task = Addition("reversed")  # the units and the digits after them; the last two depend on the first digits
    digits = slice(3 * 3 - 1, 3 * 3 + 1)
    assert task.chance == pytest.approx(best_guess(rows_of(task, 3, 5000), digits), abs=0.02)


def test_bad_options_are_refused() -> None:
    with pytest.raises(GnomonError, match=r"takes answer as one of 'forwards', 'reversed', got 'up'"):
        Addition("up")  # type: ignore[arg-type]
