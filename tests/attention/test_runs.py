"""Runs against the definition in loops: what each slot sees, and that positions count up by one in a run."""

from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from gnomon.attention import AttentionMask, KeyValues, Sight
from gnomon.attention import runs as module
from gnomon.attention.call import Call
from gnomon.attention.runs import Layout, Run, layouts
from gnomon.encodings import NoPE

ROWS, KEYS = 3, 9


def call(
    *,
    real: list[list[int]] | None = None,
    documents: list[list[int]] | None = None,
    positions: Tensor | None = None,
    queries: int = KEYS,
    causal: bool = True,
) -> Call:
    """The last `queries` of KEYS slots are queries."""
    x = torch.zeros(ROWS, 2, KEYS, 4)
    at = torch.arange(KEYS).expand(ROWS, -1) if positions is None else positions
    given = [None if part is None else torch.tensor(part) for part in (real, documents)]
    mask = AttentionMask.of(*given)
    first = KEYS - queries
    context = KeyValues(x, x, at, mask)
    return Call(NoPE(), x[:, :, first:], at[:, first:], mask.slots(first, KEYS), context, first, Sight(causal), 1.0)


def by_row(found: dict[Layout, list[int]]) -> list[Layout]:
    rows = {row: layout for layout, of in found.items() for row in of}
    assert sorted(rows) == list(range(ROWS))
    return [rows[row] for row in range(ROWS)]


bits = st.lists(st.lists(st.integers(0, 1), min_size=KEYS, max_size=KEYS), min_size=ROWS, max_size=ROWS)
labels = st.lists(st.lists(st.integers(0, 2), min_size=KEYS, max_size=KEYS), min_size=ROWS, max_size=ROWS)


@given(
    real=st.none() | bits,
    documents=st.none() | labels.map(lambda rows: [sorted(row) for row in rows]) | labels,
    steps=labels,
    queries=st.integers(1, KEYS),
    causal=st.booleans(),
    by_position=st.booleans(),
)
def test_runs_say_what_each_slot_sees(queries: int, causal: bool, by_position: bool, **drawn: Any) -> None:
    real, documents = drawn["real"], drawn["documents"]
    positions = torch.tensor(drawn["steps"]).cumsum(-1)
    case = call(real=real, documents=documents, positions=positions, queries=queries, causal=causal)
    for row, layout in enumerate(by_row(layouts(case, by_position=by_position))):
        covered = [slot for run in layout for slot in range(run.start, run.end)]
        assert covered == list(range(KEYS - queries, KEYS))
        for run in layout:
            for slot in range(run.start, run.end):
                others = [j for j in range(KEYS) if real is None or real[row][j]]
                same = [j for j in others if documents is None or documents[row][j] == documents[row][slot]]
                seen = {slot, *(j for j in same if j <= slot or not causal)}
                held = set(range(run.first_key, run.last_key))
                if run.kind == "alone":
                    assert seen == {slot}
                elif run.kind == "run":
                    assert seen == {j for j in held if j <= slot or not causal}
                    ids = positions[row, run.first_key : run.last_key].tolist()
                    assert not by_position or ids == list(range(ids[0], ids[0] + len(ids)))
                else:
                    assert seen <= held


def test_the_usual_batches_have_the_runs_one_expects() -> None:
    padded = [[0] * 4 + [1] * 5, [1] * 9, [0] * 4 + [1] * 5]
    left = (Run("alone", 0, 4, 0, 4), Run("run", 4, 9, 4, 9))
    assert layouts(call(real=padded), by_position=True) == {left: [0, 2], (Run("run", 0, 9, 0, 9),): [1]}
    packed = [[7] * 3 + [8] * 6] * 3
    both = (Run("run", 0, 3, 0, 3), Run("run", 3, 9, 3, 9))
    assert layouts(call(documents=packed, causal=False), by_position=True) == {both: [0, 1, 2]}
    right = [[1] * 5 + [0] * 4] * 3
    assert list(layouts(call(real=right, queries=6), by_position=True)) == [
        (Run("run", 3, 5, 0, 5), Run("mixed", 5, 9, 0, 9))
    ]
    assert layouts(call(queries=2), by_position=True) == {(Run("run", 7, 9, 0, 9),): [0, 1, 2]}


def test_a_gap_in_positions_ends_a_run_only_where_positions_matter() -> None:
    positions = torch.tensor([[0, 1, 2, 3, 10, 11, 12, 13, 14]]).repeat(ROWS, 1)
    gap = (Run("run", 0, 4, 0, 4), Run("mixed", 4, 9, 0, 9))
    assert list(layouts(call(positions=positions), by_position=True)) == [gap]
    assert list(layouts(call(positions=positions), by_position=False)) == [(Run("run", 0, 9, 0, 9),)]


def test_many_short_runs_are_one_stretch_of_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    documents = [[0, 0, 1, 1, 2, 2, 3, 3, 4]] * 3
    assert len(next(iter(layouts(call(documents=documents), by_position=True)))) == 5
    monkeypatch.setattr(module, "FEW", 4)
    assert list(layouts(call(documents=documents), by_position=True)) == [(Run("mixed", 0, 9, 0, 9),)]
