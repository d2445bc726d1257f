"""Whether attention falls with distance."""

import pytest
import torch

from gnomon.lab.experiments.context import Context
from gnomon.lab.measures.monotonicity import Monotonicity, falling_share
from tests.helpers.lab_measured import fresh


def test_a_map_worked_by_hand() -> None:
    """Steps towards the query. Row 0 (from the right): +1, 0. Row 1: +3 and -1. Row 2 (from the left): -2, +5."""
    logits = torch.tensor([[[1.0, 0.0, 0.0], [0.0, 3.0, 4.0], [2.0, 0.0, 5.0]]])
    assert falling_share(logits) == pytest.approx((1 + 0.5 + 1 + 0 + 0 + 1) / 6)


def test_hidden_keys_do_not_count() -> None:
    hidden = -torch.inf
    logits = torch.tensor([[[1.0, hidden, hidden], [0.0, 3.0, hidden], [2.0, 0.0, 5.0]]])
    assert falling_share(logits) == pytest.approx((1 + 0 + 1) / 3)


@pytest.mark.parametrize("sight", ["causal", "both"])
def test_alibi_falls_with_each_step(sight: str) -> None:
    assert Monotonicity(length=9, words=2).take(fresh("alibi", sight=sight), Context(0)).values == (1, 1)


def test_without_an_encoding_there_is_no_order() -> None:
    assert Monotonicity(length=9, words=2).take(fresh("nope"), Context(0)).values == (0.5, 0.5)
