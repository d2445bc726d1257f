"""Measured peaks of memory for tests of growth."""

from typing import Any

import pytest

from gnomon.bench import memory


def peak_growth(code: str, **values: Any) -> int:
    """Peak resident bytes of a fresh child process during `run`, above its level just before; one thread.

    `code` defines `setup(**values)` and `run(thing)`, and `warm_up(thing)` where the first call of a library matters;
    see `gnomon.bench.memory.peak_growth`. The test is skipped where the system does not tell. A child that imports
    torch takes 2 s, so a test of growth at two lengths takes 4 to 5.
    """
    if not memory.can_measure():
        pytest.skip("peak memory is read from /proc/self/status")
    return memory.peak_growth(code, **values)
