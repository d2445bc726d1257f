"""Claims 26, 27 and 28."""

import math

import pytest
import torch

from gnomon.lab.claims.alibi import HEADS, LENGTH, bias, in_the_future
from tests.helpers.claims import measure, verdict


def test_the_penalty_is_the_published_one_in_both_forms() -> None:
    numbers = measure(26)
    assert max(numbers.values()) < 1e-9
    assert verdict(26, numbers) == "holds"
    assert verdict(26, {**numbers, "between the forms": 0.1}) == "fails"
    assert float(bias("symmetric")[7, 3, 9]) == -6 * 2.0**-8


def test_eight_heads_have_slopes_from_a_half_to_one_in_256() -> None:
    numbers = measure(27)
    assert numbers["ours against the paper"] == 0
    assert numbers["last slope"] == 1 / 256
    assert numbers["last slope of the article"] == 2.0 ** (-15 / 8)
    assert verdict(27, numbers) == "fails"
    assert verdict(27, {**numbers, "last slope of the article": 1 / 256}) == "holds"


def test_the_share_of_the_future_is_that_of_a_softmax_written_out() -> None:
    flat = torch.zeros(HEADS, LENGTH, LENGTH, dtype=torch.float64)
    uniform = sum((LENGTH - 1 - i) / LENGTH for i in range(LENGTH // 2)) / (LENGTH // 2)
    assert in_the_future(flat, flat) == pytest.approx(uniform)
    slope = 2.0**-8
    shares = []
    for i in range(LENGTH // 2):
        past = sum(math.exp(-slope * (i - j)) for j in range(i + 1))
        shares.append((LENGTH - 1 - i) / (LENGTH - 1 - i + past))
    last_head = bias("symmetric").tril()[7:]
    assert in_the_future(last_head, flat[7:]) == pytest.approx(sum(shares) / len(shares))


def test_the_line_of_the_article_leaks_and_a_mask_does_not() -> None:
    numbers = measure(28)
    assert numbers["tril"] > numbers["no bias"] > 0.5
    assert numbers["mask and bias"] == 0
    assert verdict(28, numbers) == "fails"
    assert verdict(28, {**numbers, "tril": 0.0}) == "holds"
