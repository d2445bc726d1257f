"""A run of a suite is found by its key, and only there."""

import pytest

from gnomon.errors import GnomonError
from gnomon.lab.repeating import run_of
from gnomon.lab.suites.base import Size
from tests.helpers.made_up_suite import Made


def test_the_run_of_a_key_is_found() -> None:
    wanted = Made().runs("quick", [2])[1]
    assert run_of(Made(), "quick", 2, wanted.key) == wanted


@pytest.mark.parametrize(("size", "seed"), [("full", 2), ("quick", 1)])
def test_another_size_or_seed_has_no_such_run_and_those_there_are_are_named(size: Size, seed: int) -> None:
    key = Made().runs("quick", [2])[1].key
    with pytest.raises(GnomonError, match=f"no run '{key}' with seed {seed}.*Known: [0-9a-f]{{20}} copy, a;"):
        run_of(Made(), size, seed, key)
