"""Which distances blocks of queries meet, and where each lies, against all pairs counted one by one."""

from typing import Any

import pytest
import torch

from gnomon.errors import GnomonError
from gnomon.kernels.relative_shift import Shift

CASES = [
    Shift(7, 7),
    Shift(7, 7, block=3, after=0),
    Shift(7, 12, offset=5, block=3, after=0),
    Shift(7, 12, offset=2, block=4, before=2, after=1),
    Shift(7, 12, offset=5, block=2, before=3, after=0),
    Shift(6, 9, offset=0, block=4, before=0, after=0),
    Shift(5, 9, offset=30, block=2),
    Shift(5, 9, offset=-3, block=5),
    Shift(1, 8, offset=7, after=0),
]


def within(shift: Shift, i: int, j: int) -> bool:
    ahead = j - shift.offset - i
    return (shift.after is None or ahead <= shift.after) and (shift.before is None or -ahead <= shift.before)


@pytest.mark.parametrize("shift", CASES, ids=str)
def test_blocks_hold_each_query_once_with_every_key_within_its_reach(shift: Shift) -> None:
    queries = [i for block in shift.blocks() for i in range(block.rows.start, block.rows.stop)]
    assert queries == list(range(shift.queries))
    for block in shift.blocks():
        hidden = block.hidden(torch.device("cpu"))
        edges = [set(range(*columns.indices(block.size[1]))) for columns in block.edges()]
        for row, i in enumerate(range(block.rows.start, block.rows.stop)):
            for j in range(shift.keys):
                inside = block.keys.start <= j < block.keys.stop
                assert inside or not within(shift, i, j)
                if inside:
                    column = j - block.keys.start
                    assert hidden[row, column] == (not within(shift, i, j))
                    assert within(shift, i, j) or any(column in edge for edge in edges)


@pytest.mark.parametrize("heads", [1, 3])
@pytest.mark.parametrize("shift", CASES, ids=str)
def test_the_view_puts_each_distance_where_its_query_and_key_meet(shift: Shift, heads: int) -> None:
    """Scores that are numbered by head, batch row, query and distance."""
    distances, batch = shift.distances(torch.device("cpu")).tolist(), 2
    for block in shift.blocks():
        queries, _ = block.size
        width = block.span.stop - block.span.start
        assert 0 <= block.span.start < block.span.stop <= len(distances)
        groups, rows = (1, batch * 3) if heads == 1 else (heads, batch)
        scores = torch.arange(groups * rows * queries * width).view(groups, rows, queries, width).double()
        view = block.shifted(scores, batch)
        assert view.data_ptr() - scores.data_ptr() < 8 * queries  # a view, not a copy
        for b in range(batch):
            for h in range(3):
                row = scores[0, 3 * b + h] if groups == 1 else scores[h, b]
                for i in range(block.rows.start, block.rows.stop):
                    for j in range(block.keys.start, block.keys.stop):
                        number = distances.index(j - shift.offset - i) - block.span.start
                        got = view[b, h, i - block.rows.start, j - block.keys.start]
                        assert got == row[i - block.rows.start, number]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"queries": 0, "keys": 3}, "at least 1 query, 1 key and 1 query in a block, got 0, 3 and 128"),
        ({"queries": 2, "keys": 3, "before": -1}, "reaches 0 slots or more to each side, got -1 and None"),
        ({"queries": 2, "keys": 3, "offset": 2, "after": 0}, r"2 queries from slot 2 on; .* slots 0 to 1"),
    ],
)
def test_what_does_not_fit_is_named(options: dict[str, Any], said: str) -> None:
    with pytest.raises(GnomonError, match=said):
        Shift(**options)
