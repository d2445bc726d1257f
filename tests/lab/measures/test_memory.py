"""Memory of training."""

import pytest

from gnomon.lab.experiments.context import Context
from gnomon.lab.measures.memory import Memory
from tests.helpers.lab_measured import fresh


def test_without_an_encoding_it_is_that_of_its_twin() -> None:
    assert Memory([4, 9]).take(fresh("nope"), Context(0)).values == (1, 1)


def test_a_bias_for_each_pair_of_slots_takes_memory_that_grows_with_the_length() -> None:
    short, long = Memory([8, 128]).take(fresh("alibi"), Context(0)).values
    assert short is not None
    assert long is not None
    assert long > short + 0.5


def test_a_table_that_is_too_short_has_no_number() -> None:
    assert Memory([9]).take(fresh("learned", max_length=8), Context(0)).value(9) is None


def test_a_rotation_takes_no_such_memory() -> None:
    value = Memory([128]).take(fresh("rotary"), Context(0)).value(128)
    assert value == pytest.approx(1, abs=0.8)
