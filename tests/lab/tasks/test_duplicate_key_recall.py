from collections import Counter

import pytest

from gnomon.errors import GnomonError
from gnomon.lab.tasks.duplicate_key_recall import DuplicateKeyRecall, Occurrence
from tests.helpers.generated_tasks import Solver, best_guess, check_answers, check_contract, real_rows, rows_of

KEYS, VALUES = 12, 5


def pairs(ids: list[int]) -> list[tuple[int, int]]:
    told = ids[:-1]
    return [(told[i], told[i + 1] - KEYS) for i in range(0, len(told), 2)]


def solver(occurrence: Occurrence) -> Solver:
    def solve(ids: list[int]) -> list[int]:
        found = [value for key, value in pairs(ids) if key == ids[-1]]
        assert len(found) == len(set(found)) == 2
        assert set(Counter(key for key, _ in pairs(ids)).values()) == {2}
        return [-100] * (len(ids) - 1) + [found[0] if occurrence == "first" else found[1]]

    return solve


@pytest.mark.parametrize("occurrence", ["first", "last"])
def test_the_answer_is_the_value_of_that_occurrence(occurrence: Occurrence) -> None:
    check_answers(DuplicateKeyRecall(KEYS, VALUES, occurrence), (1, 2, 5, 12), solver(occurrence))


@pytest.mark.parametrize("occurrence", ["first", "last"])
def test_rows_keep_the_contract(occurrence: Occurrence) -> None:
    check_contract(DuplicateKeyRecall(KEYS, VALUES, occurrence), 1, KEYS)


def test_content_alone_leaves_two_values_of_which_either_may_be_right() -> None:
    task = DuplicateKeyRecall(KEYS, 2)
    rows = [(ids, labels[-1]) for ids, labels in real_rows(rows_of(task, 3, 2000))]
    assert Counter(value for _, value in rows)[1] / 2000 == pytest.approx(0.5, abs=0.04)
    distances = {ids[:-1:2][::-1].index(ids[-1]) for ids, _ in rows}
    assert distances == {0, 1, 2, 3, 4}  # of six pairs the last of one key may be any but the first


def test_chance_is_that_of_the_most_frequent_value() -> None:
    task = DuplicateKeyRecall(values=4)
    assert task.chance == pytest.approx(best_guess(rows_of(task, 3, 4000)), abs=0.03)


def test_bad_options_are_refused() -> None:
    for bad in ({"keys": 0}, {"values": 1}, {"occurrence": "middle"}):
        with pytest.raises(GnomonError, match=f"takes {next(iter(bad))} as"):
            DuplicateKeyRecall(**bad)  # type: ignore[arg-type]
