"""Measured peaks of memory for tests of growth."""

from collections.abc import Mapping
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


def peak_growths(code: str, *cases: Mapping[str, Any]) -> list[int]:
    """The peaks of several cases, measured one after another in one child: torch is imported once for all of them.

    For code whose first call and second take the same memory, or which has a `warm_up`.
    """
    if not memory.can_measure():
        pytest.skip("peak memory is read from /proc/self/status")
    first, *others = cases
    answer = memory.in_fresh_process({"code": f"{code}\nOTHERS = {others!r}\n{_AGAIN}", "values": first, "threads": 1})
    return [answer["growth"], *answer["others"]]


_AGAIN = """
def again(values):
    from gnomon.bench.child import peak_while
    thing = setup(**values)
    if "warm_up" in globals():
        warm_up(thing)
    return peak_while(lambda: run(thing))[1]

def tell(thing, result):
    return {"others": [again(values) for values in OTHERS]}
"""
