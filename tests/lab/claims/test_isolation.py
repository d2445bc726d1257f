"""Claim 33."""

import pytest

from tests.helpers.claims import measure, verdict


def test_a_model_without_positions_passes_the_test_of_the_article() -> None:
    numbers = measure(33)
    assert numbers["no positions, A B C"] == 1.0
    assert numbers["no positions, A A A"] == pytest.approx(1 / 3)
    assert numbers["positions, A A A"] == 1.0
    assert verdict(33, numbers) == "fails"
    assert verdict(33, {**numbers, "no positions, A B C": (1.0, 1 / 3)}) == "holds"
