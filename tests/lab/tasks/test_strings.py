from collections import Counter

import torch

from gnomon.lab.tasks.strings import as_answers, drawn


def test_unique_strings_repeat_nothing_and_use_every_symbol_as_often() -> None:
    strings = drawn(5, 4000, 3, torch.Generator().manual_seed(0), unique=True)
    assert all(len(set(string)) == 3 for string in strings.tolist())
    for column in strings.T.tolist():
        assert all(abs(count / 4000 - 1 / 5) < 0.03 for count in Counter(column).values())
        assert set(column) == set(range(5))


def test_strings_with_repeats_draw_each_symbol_on_its_own() -> None:
    strings = drawn(2, 4000, 3, torch.Generator().manual_seed(0), unique=False)
    assert all(abs(count / 4000 - 1 / 8) < 0.03 for count in Counter(map(tuple, strings.tolist())).values())
    assert len(set(map(tuple, strings.tolist()))) == 8


def test_an_answer_may_be_longer_than_its_source_and_ends_with_the_end() -> None:
    batch = as_answers(torch.tensor([[7, 8], [9, 7]]), torch.tensor([[4, 5, 6], [5, 5, 4]]))
    assert batch.ids.tolist() == [[0, 7, 8, 1, 4, 5, 6], [0, 9, 7, 1, 5, 5, 4]]
    assert batch.labels.tolist() == [[-100, -100, -100, 4, 5, 6, 2], [-100, -100, -100, 5, 5, 4, 2]]
