"""Attention among identical words, by distance."""

import math

import pytest
import torch

from gnomon.errors import GnomonError
from gnomon.lab.experiments.context import Context
from gnomon.lab.measures.identical_word import IdenticalWord, by_distance
from tests.helpers.lab_measured import fresh


def test_a_map_worked_by_hand() -> None:
    """Causal rows 1; 1/4, 3/4; 1/6, 2/6, 3/6: times the keys seen 1; 1/2, 3/2; 1/2, 1, 3/2."""
    shares = torch.tensor([[1, 0, 0], [1 / 4, 3 / 4, 0], [1 / 6, 2 / 6, 3 / 6]], dtype=torch.float64)
    assert by_distance(shares.log()[None]) == pytest.approx([(1 + 1.5 + 1.5) / 3, (0.5 + 1) / 2, 0.5])


def test_without_an_encoding_every_distance_gets_an_even_share() -> None:
    series = IdenticalWord(length=6, words=3).take(fresh("nope"), Context(0))
    assert series.at == (0, 1, 2, 3, 4, 5)
    assert series.values == pytest.approx([1] * 6, abs=1e-5)


def test_alibi_falls_as_its_slopes_say() -> None:
    """Of two slots the first gets exp(-slope) of what the second gets: 1 / (exp(slope) + 1) of all, times 2 keys."""
    series = IdenticalWord(length=2, words=3).take(fresh("alibi"), Context(0))
    slopes = (2**-4, 2**-8)
    far = sum(2 / (math.exp(slope) + 1) for slope in slopes) / 2
    assert series.values == pytest.approx((((2 - far) + 1) / 2, far), rel=1e-4)


def test_a_layer_that_does_not_exist_is_refused() -> None:
    with pytest.raises(GnomonError, match="a layer from 1 to 2, got 3"):
        IdenticalWord(layer=3).take(fresh(), Context(0))


def test_a_table_that_is_too_short_has_no_numbers() -> None:
    series = IdenticalWord(length=9).take(fresh("learned", max_length=8), Context(0))
    assert set(series.values) == {None}
    assert "8 slots" in series.why
