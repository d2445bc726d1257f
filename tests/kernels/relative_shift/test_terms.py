"""The terms of a query and a distance, and of a key, against loops over plain floats."""

import math

import pytest
import torch
from torch import Tensor

from gnomon.kernels.relative_shift import RelativeTerms
from tests.helpers.weights import normal


def dot(a: Tensor, b: Tensor) -> float:
    return math.fsum(x * y for x, y in zip(a.tolist(), b.tolist(), strict=True))


@pytest.mark.parametrize("groups", [1, 3])
def test_each_query_meets_the_vector_of_each_distance_and_each_key_that_of_its_head(groups: int) -> None:
    query, key = normal(3, 4, seed=4).double(), normal(3, 4, seed=5).double()
    terms = RelativeTerms(normal(groups, 5, 4, seed=3).double(), query, key, scale=0.3)
    q, k = normal(2, 3, 2, 4, seed=1).double(), normal(2, 3, 6, 4, seed=2).double()
    by_distance, by_key = terms.by_distance(q), terms.by_key(k)
    assert by_key is not None
    assert by_distance.shape == (2, 3, 2, 5)
    assert by_key.shape == (2, 3, 6)
    for b in range(2):
        for h in range(3):
            vectors = terms.vectors[h if groups > 1 else 0]
            for i in range(2):
                want = [0.3 * dot(q[b, h, i] + query[h], vectors[n]) for n in range(5)]
                assert by_distance[b, h, i].tolist() == pytest.approx(want, rel=1e-12)
            assert by_key[b, h].tolist() == pytest.approx([0.3 * dot(k[b, h, j], key[h]) for j in range(6)], rel=1e-12)


def test_none_is_zero_and_half_precision_is_computed_in_float32() -> None:
    q = normal(1, 2, 3, 4).bfloat16()
    terms = RelativeTerms(normal(2, 5, 4), None, None, scale=2.0)
    assert terms.by_key(q) is None
    zero = RelativeTerms(terms.vectors, torch.zeros(2, 4), None, scale=2.0)
    assert terms.by_distance(q).dtype == torch.float32
    assert torch.equal(terms.by_distance(q), zero.by_distance(q.float()))
