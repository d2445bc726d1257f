from collections import Counter
from typing import Any

import pytest
import torch

from gnomon.errors import GnomonError
from gnomon.lab.tasks.passkey import Passkey
from tests.helpers.generated_tasks import best_guess, check_answers, check_contract, real_rows, rows_of


def solver(ids: list[int]) -> list[int]:
    """What stands after the key's mark, up to the noise or the question; the last of it is not in the row again."""
    start, ask = ids.index(1), ids.index(2)
    key = []
    for each in ids[start + 1 : ask]:
        if not 3 <= each < 13:
            break
        key.append(each)
    assert ids[0] == 0
    assert all(each >= 13 for each in ids[1:start] + ids[start + 1 + len(key) : ask])
    assert ids[ask + 1 :] == key[:-1]
    return [-100] * ask + key


@pytest.mark.parametrize("digits", [1, 2, 5])
def test_the_answer_is_the_key(digits: int) -> None:
    lowest = 2 * digits + 2
    check_answers(Passkey(digits=digits, noise=3), (lowest, lowest + 1, lowest + 6, 40), solver)


def test_rows_keep_the_contract() -> None:
    check_contract(Passkey(digits=3, noise=1), 8)
    check_contract(Passkey(), 12)


def test_keys_stand_everywhere_in_the_noise() -> None:
    task = Passkey(digits=2, noise=4)  # 15 slots: 9 of noise, so that the mark stands at slots 1 .. 10
    places = Counter(ids.index(1) for ids, _ in real_rows(rows_of(task, 15, 3000)))
    assert sorted(places) == list(range(1, 11))
    assert all(places[place] / 3000 == pytest.approx(1 / 9, abs=0.03) for place in range(2, 10))


@pytest.mark.parametrize(("depth", "before"), [(0.0, 0), (0.25, 2), (0.5, 4), (1.0, 9)])
def test_at_one_depth_all_keys_stand_behind_the_same_share_of_the_noise(depth: float, before: int) -> None:
    task = Passkey(digits=2, noise=4).at_depth(depth)  # 9 of noise; 4.5 is rounded to the even 4
    assert {ids.index(1) - 1 for ids, _ in real_rows(rows_of(task, 15, 9))} == {before}
    assert (task.digits, task.noise, task.vocabulary) == (2, 4, 17)


def test_a_range_of_depths_is_kept_in_both_splits() -> None:
    task = Passkey(digits=1, noise=2, depth=[0.5, 0.75])
    for split in ("train", "test"):
        batch = task.batch(split, 104, 300, torch.Generator().manual_seed(0))  # type: ignore[arg-type]
        before = {ids.index(1) - 1 for ids, _ in real_rows(batch)}
        assert (min(before), max(before)) == (50, 75)


def test_chance_is_that_of_one_digit() -> None:
    assert Passkey.chance == pytest.approx(best_guess(rows_of(Passkey(digits=3), 12, 4000)), abs=0.02)


BAD: list[dict[str, Any]] = [{"digits": 0}, {"noise": 0}, {"depth": [0.5]}, {"depth": 0.5}, {"depth": "01"}]
BAD += [{"depth": [0.9, 0.1]}, {"depth": [0, 2]}]


@pytest.mark.parametrize("bad", BAD)
def test_bad_options_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(GnomonError, match=f"takes {next(iter(bad))} as"):
        Passkey(**bad)


def test_a_row_too_short_for_its_key_is_refused() -> None:
    with pytest.raises(GnomonError, match="length 12 up, got 11"):
        rows_of(Passkey(digits=5), 11)
