"""Attention in blocks of queries: how large they are, what they see, and that memory grows with the length."""

import pytest
import torch

from gnomon.attention import AttentionMask, KeyValues, Sight
from gnomon.attention.blocks import BUDGET, EACH, rows_of_a_block, seen_slots
from gnomon.attention.call import Call
from gnomon.encodings import FIRE
from tests.helpers.peaks import peak_growth

CAUSAL = Sight(causal=True)


def call(queries: int, keys: int, *, heads: int = 20, rows: int = 2, sight: Sight = CAUSAL) -> Call:
    x, at = torch.zeros(rows, heads, keys, 1), torch.arange(keys).expand(rows, -1)
    context, first = KeyValues(x, x, at, AttentionMask()), keys - queries
    return Call(FIRE(heads), x[:, :, first:], at[:, first:], AttentionMask(), context, first, sight, 1.0)


@pytest.mark.parametrize(("heads", "rows", "window"), [(20, 2, None), (3, 1, None), (20, 2, 50)])
def test_a_block_keeps_to_its_budget_and_has_at_least_one_row(heads: int, rows: int, window: int | None) -> None:
    case = call(1000, 3000, heads=heads, rows=rows, sight=Sight(causal=True, window=window))
    size = rows_of_a_block(case)
    keys = 3000 if window is None else 2 * window
    assert size * EACH * keys * max(heads * rows, 16) <= BUDGET < (size + 1) * EACH * keys * max(heads * rows, 16)
    assert rows_of_a_block(call(1, 300_000)) == 1


@pytest.mark.parametrize("sight", [Sight(causal=c, window=w) for c in (True, False) for w in (None, 1, 4, 5)])
def test_the_slots_that_a_block_sees_are_those_of_its_sight(sight: Sight) -> None:
    slots = torch.arange(9)
    for start, end in ((0, 3), (4, 5), (6, 9)):
        seen = torch.ones(end - start, 9, dtype=torch.bool)
        for condition in sight.conditions(slots[:, None], slots):
            seen &= condition[start:end]
        columns = seen.any(0).nonzero().flatten().tolist()
        assert seen_slots(sight, start, end, 9) == (columns[0], columns[-1] + 1)


CODE = """
import torch
from gnomon.attention import Attention, blocks
from gnomon.attention.paths import ATTENTION
from gnomon.encodings import FIRE
blocks.BUDGET = 1 << 23

def setup(length):
    layer = Attention(16, num_heads=2, encoding=FIRE(2, hidden_dim=8), causal=True)
    return layer, torch.randn(1, length, 16, requires_grad=True)

def run(given):
    layer, x = given
    with ATTENTION.using("blocks"):
        layer(x, torch.arange(x.shape[1])[None]).sum().backward()

def warm_up(given):
    layer, x = given
    run((layer, x[:, :200].detach().requires_grad_()))
"""


def test_memory_of_training_grows_with_the_length_and_not_with_its_square() -> None:
    short, long = (peak_growth(CODE, length=length) for length in (1000, 2000))
    assert long - short < 1000 * 16 * 4 * 100  # 100 vectors of the model for each slot; biases alone would be 375
