"""Whether both sides get the same attention."""

import pytest
import torch

from gnomon.lab.experiments.context import Context
from gnomon.lab.measures.symmetry import Symmetry, balance
from tests.helpers.lab_measured import fresh


def test_a_map_worked_by_hand() -> None:
    """Of three slots only the middle one has both sides: 0.2 and 0.6 in one head, 0.3 and 0.3 in the other."""
    ends = [1 / 3, 1 / 3, 1 / 3]
    shares = torch.tensor([[ends, [0.2, 0.2, 0.6], ends], [ends, [0.3, 0.4, 0.3], ends]], dtype=torch.float64)
    assert balance(shares.log()) == pytest.approx((0.5 + 1) / 2)


def test_symmetric_alibi_is_symmetric_in_an_encoder() -> None:
    series = Symmetry(length=9, words=2).take(fresh("alibi", sight="both"), Context(0))
    assert series.values == pytest.approx((1, 1), abs=1e-5)


def test_rotary_tells_left_from_right() -> None:
    series = Symmetry(length=9, words=2).take(fresh("rotary", sight="both"), Context(0))
    assert all(value is not None and value < 0.999 for value in series.values)


def test_a_causal_model_has_no_number() -> None:
    series = Symmetry(length=9, words=2).take(fresh("alibi"), Context(0))
    assert (series.values, series.why) == ((None, None), "a causal model sees one side only")
