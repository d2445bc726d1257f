"""Claim 31."""

from tests.helpers.claims import measure, verdict


def test_the_query_stream_knows_the_place_and_not_the_word() -> None:
    numbers = measure(31)
    assert numbers["between two places"] > 1e-3
    assert numbers["between two places, one stream"] == 0
    assert numbers["after changing the word there"] < 1e-12
    assert verdict(31, numbers) == "holds"


def test_a_query_stream_that_saw_its_word_would_fail() -> None:
    numbers = measure(31)
    assert verdict(31, {**numbers, "after changing the word there": 0.1}) == "fails"
    assert verdict(31, {**numbers, "between two places": 0.0}) == "fails"
