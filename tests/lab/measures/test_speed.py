"""Speed of a forward pass."""

import pytest

from gnomon.errors import GnomonError
from gnomon.lab.experiments.context import Context
from gnomon.lab.measures.speed import Speed
from tests.helpers.lab_measured import fresh


def test_each_length_has_a_ratio_unless_the_table_is_too_short() -> None:
    series = Speed([4, 9], repeats=1).take(fresh("learned", max_length=8), Context(0))
    first, second = series.values
    assert first is not None
    assert 0 < first < 100
    assert (second, series.why) == (None, "there are positions for 8 slots only")


def test_at_least_one_pair_is_timed() -> None:
    with pytest.raises(GnomonError, match="repeats of at least 1, got 0"):
        Speed([4], repeats=0)
