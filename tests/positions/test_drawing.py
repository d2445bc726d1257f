"""Drawn ids: distinct, rising, reproducible, and every subset as likely as the next."""

from collections import Counter
from itertools import combinations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gnomon import positions
from gnomon.errors import PositionError


def seeded(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@given(st.integers(1, 20), st.integers(0, 30), st.integers(1, 4), st.integers(0, 9))
def test_ids_are_distinct_rising_and_within_the_span(length: int, more: int, rows: int, seed: int) -> None:
    ids = positions.randomized(length, length + more, seeded(seed), rows=rows)
    assert ids.dtype == torch.int64
    assert ids.shape == (rows, length)
    for row in ids.tolist():
        assert row == sorted(set(row))
        assert 0 <= row[0] <= row[-1] < length + more


def test_the_whole_span_is_counting() -> None:
    assert positions.randomized(7, 7, seeded(3)).tolist() == [list(range(7))]


def test_one_seed_gives_one_draw_and_rows_differ() -> None:
    first, second = (positions.randomized(6, 200, seeded(1), rows=2) for _ in range(2))
    assert torch.equal(first, second)
    assert not torch.equal(first[0], first[1])
    assert not torch.equal(first, positions.randomized(6, 200, seeded(2), rows=2))


def test_the_generator_alone_decides() -> None:
    torch.manual_seed(5)
    state = torch.get_rng_state()
    positions.randomized(3, 9, seeded(0))
    assert torch.equal(torch.get_rng_state(), state)


def test_every_subset_is_as_likely() -> None:
    drawn = Counter(map(tuple, positions.randomized(2, 5, seeded(0), rows=5000).tolist()))
    assert set(drawn) == set(combinations(range(5), 2))
    chi_square = sum((count - 500) ** 2 / 500 for count in drawn.values())
    assert chi_square < 27.9  # 9 degrees of freedom: a fair draw is above this once in a thousand


def test_padding_and_drawing_count_real_tokens_only() -> None:
    mask = torch.tensor([[0, 0, 1, 1], [1, 1, 1, 0]])
    drawn = positions.randomized(4, 40, seeded(0), rows=2)
    ids = drawn.gather(-1, positions.from_mask(mask))
    assert ids[0, 2:].tolist() == drawn[0, :2].tolist()
    assert ids[1, :3].tolist() == drawn[1, :3].tolist()


@pytest.mark.parametrize(
    ("length", "span", "rows", "message"),
    [
        (0, 5, 1, "between 1 and 5 .* got length=0"),
        (6, 5, 1, "between 1 and 5 .* got length=6"),
        (1, 0, 1, "at least 1, got 0"),
        (2, 5, 0, "At least 1 row .* got rows=0"),
    ],
)
def test_impossible_draws_are_errors(length: int, span: int, rows: int, message: str) -> None:
    with pytest.raises(PositionError, match=message):
        positions.randomized(length, span, seeded(0), rows=rows)
