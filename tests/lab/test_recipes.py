"""What suites share: encodings that fit the trained length, and lengths to read at."""

import pytest

from gnomon.encodings.base import build
from gnomon.encodings.t5 import T5Bias
from gnomon.lab.recipes import READINGS, causal_encodings


@pytest.mark.parametrize("trained", [4, 12, 33, 34, 64, 128])
def test_every_bucket_of_t5_is_reached_in_training(trained: int) -> None:
    given = dict(causal_encodings(trained)["t5"])
    encoding = build(given.pop("encoding"), num_heads=2, **given)
    assert isinstance(encoding, T5Bias)
    assert max(encoding.bucket_starts) <= trained // 2


def test_every_length_of_a_reading_divides_the_tokens_that_are_scored() -> None:
    for reading in (*READINGS["quick"], *READINGS["full"]):
        assert [reading.total % length for length in reading.lengths] == [0] * len(reading.lengths)
        assert reading.lengths[0] == reading.length
        assert reading.last < reading.length


def test_the_longest_runs_come_first() -> None:
    [reading] = READINGS["quick"]
    assert [run.variant for run in reading.runs(("rotary", "t5"), [0, 1])] == ["t5", "t5", "rotary", "rotary"]
