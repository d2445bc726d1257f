"""How much of attention a number for each distance explains."""

import math

import numpy as np
import pytest
import torch

from gnomon.lab.experiments.context import Context
from gnomon.lab.measures.toeplitz import Toeplitz, toeplitz_share
from tests.helpers.lab_measured import fresh

S = 9
SLOTS = torch.arange(S)
GENERATOR = torch.Generator().manual_seed(0)
CAUSAL = torch.ones(S, S, dtype=torch.bool).tril()


def noise(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=GENERATOR, dtype=torch.float64)


def hidden(map_: torch.Tensor, seen: torch.Tensor = CAUSAL) -> torch.Tensor:
    return map_.masked_fill(~seen, -torch.inf)


@pytest.mark.parametrize("seen", [CAUSAL, torch.ones_like(CAUSAL)], ids=["causal", "both sides"])
def test_a_toeplitz_map_is_explained_whatever_is_added_to_its_rows(seen: torch.Tensor) -> None:
    by_distance = noise(3, 2 * S - 1)[:, SLOTS[:, None] - SLOTS + S - 1]
    assert toeplitz_share(hidden(by_distance + noise(3, S, 1), seen)) == pytest.approx(1)


def test_little_of_a_random_map_is_explained() -> None:
    """By chance (diagonals - 1) / (cells - rows): here 16 of 72 numbers."""
    shares = [toeplitz_share(noise(2, S, S)) for _ in range(40)]
    assert np.mean(shares) == pytest.approx(16 / 72, abs=0.03)


def test_it_is_the_share_that_least_squares_explain() -> None:
    map_ = hidden(noise(1, S, S) + 0.3 * SLOTS)
    cells = [(q, k) for q in range(S) for k in range(q + 1)]
    y = np.array([float(map_[0, q, k]) for q, k in cells])
    rows = np.array([[float(q == row) for row in range(S)] for q, _ in cells])
    distances = np.array([[float(q - k == far) for far in range(S)] for q, k in cells])
    both = np.concatenate((rows, distances), axis=1)
    left = [float(np.square(y - x @ np.linalg.pinv(x) @ y).sum()) for x in (rows, both)]
    assert toeplitz_share(map_) == pytest.approx(1 - left[1] / left[0])


def test_an_even_map_has_no_number() -> None:
    assert math.isnan(toeplitz_share(hidden(torch.zeros(2, S, S, dtype=torch.float64))))


@pytest.mark.parametrize("encoding", ["rotary", "alibi", "t5"])
@pytest.mark.parametrize("sight", ["causal", "both"])
def test_relative_encodings_are_toeplitz_in_every_layer(encoding: str, sight: str) -> None:
    series = Toeplitz(length=13, words=3).take(fresh(encoding, sight=sight), Context(0))
    assert series.at == (1, 2)
    assert series.values == pytest.approx((1, 1), abs=1e-3)


def test_absolute_encodings_are_not() -> None:
    series = Toeplitz(length=13, words=3).take(fresh("learned"), Context(0))
    assert all(value is not None and value < 0.95 for value in series.values)


def test_without_an_encoding_all_keys_get_the_same() -> None:
    series = Toeplitz(length=13, words=3).take(fresh("nope"), Context(0))
    assert (series.values, series.why) == ((None, None), "all keys get the same attention")
