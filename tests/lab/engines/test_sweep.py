"""Time left, from what has been measured: hand arithmetic with a clock that the test moves."""

from gnomon.lab.engines.sweep import Seldom, Sweep
from gnomon.report.lab.results import Run


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def run(variant: str, seed: int = 0, group: str = "copy") -> Run:
    return Run("train", group, variant, seed, {"variant": variant, "group": group})


def sweep_of(*runs: Run, at_once: int = 1) -> tuple[Sweep, Clock]:
    clock = Clock()
    return Sweep(runs, lambda: at_once, clock), clock


def test_nothing_is_foreseen_before_something_is_measured() -> None:
    sweep, _ = sweep_of(run("a"), run("b"))
    assert sweep.stepped(run("a"), 1, 100).seconds_left is None


def test_a_run_under_way_goes_on_at_its_own_speed() -> None:
    sweep, clock = sweep_of(run("a"))
    sweep.stepped(run("a"), 1, 100)
    clock.now = 8.0
    standing = sweep.stepped(run("a"), 5, 100)
    assert standing.seconds_left == 95 * 2.0
    assert (standing.done, standing.steps, standing.finished, standing.total) == (5, 100, 0, 1)


def test_a_run_that_goes_on_from_a_checkpoint_is_measured_from_there() -> None:
    sweep, clock = sweep_of(run("a"))
    for now, done in ((0.0, 1), (100.0, 50), (110.0, 41), (113.0, 44)):
        clock.now = now
        standing = sweep.stepped(run("a"), done, 100)
    assert standing.seconds_left == 56 * 1.0


def test_what_has_not_begun_lasts_as_long_as_the_other_seeds_of_it() -> None:
    sweep, _ = sweep_of(run("a"), run("a", 1), run("a", 2), run("b"), run("b", 1))
    assert sweep.ended(run("a"), 10.0).seconds_left == 4 * 10.0
    assert sweep.ended(run("b"), 40.0).seconds_left == 2 * 10.0 + 40.0


def test_what_is_unlike_all_others_lasts_as_long_as_its_group_then_as_all() -> None:
    sweep, _ = sweep_of(run("a"), run("b"), run("c"), run("a", group="sort"), run("a", group="parity"))
    sweep.ended(run("a"), 10.0)
    sweep.ended(run("b"), 20.0)
    assert sweep.ended(run("a", group="sort"), 90.0).seconds_left == 15.0 + 40.0


def test_workers_share_what_is_left() -> None:
    sweep, _ = sweep_of(*(run("a", seed) for seed in range(5)), at_once=2)
    assert sweep.ended(run("a"), 10.0).seconds_left == 40.0 / 2


def test_the_end_is_not_before_that_of_the_longest_run() -> None:
    sweep, clock = sweep_of(run("a"), run("b"), at_once=2)
    for now, done in ((0.0, 1), (1.0, 2)):
        clock.now = now
        sweep.stepped(run("a"), done, 102)
        sweep.stepped(run("b"), done, 12)
    assert sweep.seconds_left() == 100.0


def test_a_run_that_failed_teaches_nothing_and_counts_as_finished() -> None:
    sweep, _ = sweep_of(run("a"), run("b"))
    standing = sweep.ended(run("a"), None)
    assert (standing.state, standing.finished, standing.seconds_left) == ("failed", 1, None)
    assert sweep.ended(run("b"), 3.0).seconds_left == 0.0


def test_steps_are_passed_on_seldom_and_the_last_always() -> None:
    clock, told = Clock(), []
    seldom = Seldom(lambda done, steps: told.append(done), clock)
    for done in range(1, 11):
        clock.now = done / 10
        seldom(done, 10)
    assert told == [1, 4, 7, 10]
