"""Times are taken in turns, of calls that are long enough, by a clock of the test's own."""

import gc
from collections.abc import Callable

import pytest

from gnomon.bench.timing import Timing


class World:
    """A clock that only calls move, and what was called, in order."""

    def __init__(self) -> None:
        self.now = 0.0
        self.called: list[str] = []

    def taking(self, name: str, seconds: float) -> Callable[[], object]:
        def call() -> None:
            self.called.append(name)
            self.now += seconds

        return call

    def timing(self, **options: float) -> Timing:
        return Timing(clock=lambda: self.now, **options)  # type: ignore[arg-type]


def test_each_way_gets_its_own_seconds_for_each_round() -> None:
    world = World()
    taken = world.timing(rounds=5, sample=0.01).seconds({"a": world.taking("a", 0.5), "b": world.taking("b", 0.25)})
    assert taken == {"a": pytest.approx((0.5,) * 5), "b": pytest.approx((0.25,) * 5)}


def test_ways_are_called_in_turns_and_none_is_always_first() -> None:
    world = World()
    world.timing(rounds=3, sample=0.0).seconds({name: world.taking(name, 1.0) for name in "abc"})
    assert "".join(world.called[-9:]) == "abcbcacab"


def test_a_short_call_is_repeated_until_a_sample_is_long_enough() -> None:
    world = World()
    taken = world.timing(rounds=4, sample=0.01).seconds({"short": world.taking("short", 1e-6)})
    assert taken["short"] == pytest.approx((1e-6,) * 4)
    assert len(world.called) > 4 * 0.01 / 1e-6


def test_the_first_call_is_not_counted() -> None:
    world, costs = World(), iter([100.0])

    def call() -> None:
        world.now += next(costs, 1.0)

    assert world.timing(rounds=3, sample=0.0).seconds({"late": call}) == {"late": (1.0, 1.0, 1.0)}


def test_a_way_that_is_too_slow_gets_three_numbers_and_holds_nobody_up() -> None:
    world = World()
    ways = {"slow": world.taking("slow", 10.0), "fast": world.taking("fast", 1.0)}
    taken = world.timing(rounds=7, sample=0.0, patience=5.0).seconds(ways)
    assert (len(taken["slow"]), len(taken["fast"])) == (3, 7)


def test_no_garbage_is_collected_between_two_readings() -> None:
    seen: list[bool] = []
    Timing(rounds=1, sample=0.0).seconds({"ask": lambda: seen.append(gc.isenabled())})
    assert seen[-1] is False
    assert gc.isenabled()
