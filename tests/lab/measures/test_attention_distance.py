"""How far attention looks."""

import pytest
import torch

from gnomon.lab.experiments.context import Context
from gnomon.lab.measures.attention_distance import AttentionDistance, mean_distances
from gnomon.lab.tasks.base import Batch
from tests.helpers.lab_measured import Count, fresh


def test_a_map_worked_by_hand() -> None:
    shares = torch.tensor([[[[1.0, 0.0], [0.25, 0.75]], [[0.5, 0.5], [1.0, 0.0]]]])
    assert mean_distances(shares.log()).tolist() == [[0.25, 0.625]]


def test_attention_spread_evenly_under_a_causal_mask_looks_half_way_back() -> None:
    """On one word alone, query i spreads over distances 0 .. i: a mean of i / 2, and over 9 queries of 2."""
    series = AttentionDistance(length=9, rows=3).take(fresh("nope", Count(vocabulary=1)), Context(0))
    assert series.at == (1, 2)
    assert series.values == pytest.approx((2, 2), rel=1e-5)


def test_padding_does_not_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of 4 and of 2 words: distances 0, 0.5, 1, 1.5 and 0, 0.5, over 6 queries."""
    real = torch.tensor([[True] * 4, [True, True, False, False]])
    ids = torch.zeros(2, 4, dtype=torch.int64)
    monkeypatch.setattr(Count, "batch", lambda *_: Batch(ids, ids, real))
    series = AttentionDistance(length=4, rows=2).take(fresh("nope", Count(vocabulary=1)), Context(0))
    assert series.values == pytest.approx((3.5 / 6, 3.5 / 6), rel=1e-5)


def test_a_table_that_is_too_short_has_no_numbers() -> None:
    assert set(AttentionDistance(length=9).take(fresh("learned", max_length=8), Context(0)).values) == {None}
