"""Blocks of queries hold every pair within reach, with the number of its distance."""

import itertools

import pytest
import torch

from gnomon.errors import ShapeError
from gnomon.kernels.band import Band, Reach, distances

SIZES = [(1, 1, 0), (7, 7, 0), (4, 9, 5), (3, 8, 2), (1, 6, 5)]
REACHES: list[Reach] = [(None, None), (None, 0), (-2, 0), (-1, 1), (-20, 3)]


def pairs(queries: int, keys: int, offset: int, reach: Reach) -> dict[tuple[int, int], int]:
    """query and key -> key slot - query slot, where that is within reach."""
    least, greatest = (-100 if reach[0] is None else reach[0]), (100 if reach[1] is None else reach[1])
    every = itertools.product(range(queries), range(keys))
    return {(i, j): j - i - offset for i, j in every if least <= j - i - offset <= greatest}


@pytest.mark.parametrize("reach", REACHES)
@pytest.mark.parametrize(("queries", "keys", "offset"), SIZES)
def test_distances_are_those_of_the_pairs_within_reach(queries: int, keys: int, offset: int, reach: Reach) -> None:
    found = set(pairs(queries, keys, offset, reach).values())
    assert distances(queries, keys, offset=offset, reach=reach) == range(min(found), max(found) + 1)


@pytest.mark.parametrize("rows", [1, 2, 3, 50])
@pytest.mark.parametrize("reach", REACHES)
@pytest.mark.parametrize(("queries", "keys", "offset"), SIZES)
def test_masks_of_blocks_are_the_numbers_of_all_pairs(
    queries: int, keys: int, offset: int, reach: Reach, rows: int
) -> None:
    steps = distances(queries, keys, offset=offset, reach=reach)
    band = Band(steps, offset, queries, keys)
    numbers = torch.stack([torch.tensor(steps) * 10.0, -torch.tensor(steps) * 1.0])
    padded = band.padded(numbers, rows, torch.float32)
    found = {}
    for block in band.blocks(rows):
        mask = block.mask(padded, torch.float32)[0]
        assert mask.untyped_storage().nbytes() == 2 * 4 * block.width
        assert block.last_key - block.first_key <= band.widest(rows)
        for i, j in itertools.product(range(block.start, block.end), range(block.first_key, block.last_key)):
            number = mask[:, block.end - 1 - i, j - block.first_key]
            if number.isfinite().all():
                found[i, j] = number
    expected = pairs(queries, keys, offset, reach)
    assert found.keys() == expected.keys()
    for i, row in itertools.groupby(sorted(expected), key=lambda pair: pair[0]):
        row_pairs = list(row)
        moved = found[row_pairs[0]] - torch.tensor([10.0, -1.0]) * expected[row_pairs[0]]
        for pair in row_pairs:  # equal up to one number for each head of a row, which no softmax sees
            torch.testing.assert_close(found[pair] - moved, torch.tensor([10.0, -1.0]) * expected[pair]), i
        assert max(float(number.max()) for number in found.values()) <= 0


def test_queries_outside_the_slots_of_the_keys_are_refused() -> None:
    for queries, keys, offset in ((3, 4, 2), (0, 4, 0), (2, 4, -1)):
        with pytest.raises(ShapeError, match=f"got {queries} of them from slot {offset} on and {keys} keys"):
            distances(queries, keys, offset=offset)
