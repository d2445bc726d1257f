import numpy as np
import pytest

from gnomon.extending.searching.evolving import allowed, evolve

TARGET = np.array([1.0, 1.0, 1.2, 1.9, 3.1, 4.0, 4.0, 4.0])
STARTS = [np.full(8, 4.0), np.linspace(1.0, 4.0, 8)]


def distance(factors: np.ndarray) -> float:
    return float(np.abs(factors - TARGET).sum())


def test_it_comes_close_to_the_list_that_is_best() -> None:
    tried = evolve(distance, STARTS, scale=4.0, budget=400, seed=0)
    assert min(one.loss for one in tried) < 0.4 * min(distance(start) for start in STARTS)


def test_every_list_rises_in_whole_steps_between_1_and_a_quarter_above_the_scale() -> None:
    for one in evolve(lambda factors: -float(factors.sum()), STARTS, scale=4.0, budget=80, seed=1):
        steps = np.array(one.factors) * 100
        assert np.abs(steps - steps.round()).max() < 1e-6
        assert (np.diff(one.factors) >= 0).all()
        assert 1.0 <= min(one.factors) <= max(one.factors) <= 5.0


def test_the_starts_are_tried_first_and_no_list_twice() -> None:
    tried = evolve(distance, [*STARTS, STARTS[0]], scale=4.0, budget=60, seed=0)
    assert [one.factors for one in tried[:2]] == [tuple(allowed(start, 5.0).tolist()) for start in STARTS]
    assert len({one.factors for one in tried}) == len(tried) == 59  # the third start is the first
    assert all(one.loss == distance(np.array(one.factors)) for one in tried)


def test_the_budget_is_how_often_the_loss_is_asked_for() -> None:
    asked = []

    def loss(factors: np.ndarray) -> float:
        asked.append(factors)
        return distance(factors)

    evolve(loss, STARTS, scale=4.0, budget=17, seed=0)
    assert len(asked) == 17


def test_the_same_seed_tries_the_same_lists() -> None:
    one, same, other = (evolve(distance, STARTS, scale=4.0, budget=30, seed=seed) for seed in (3, 3, 4))
    assert one == same
    assert one != other


def test_it_ends_where_no_new_list_can_be_made() -> None:
    tried = evolve(lambda factors: 0.0, [np.ones(1)], scale=1.0, budget=500, seed=0)
    assert 1 < len(tried) <= 26  # 1.00, 1.01, ... 1.25


@pytest.mark.parametrize(("given", "made"), [([3.0, 2.0], [3.0, 3.0]), ([0.2, 99.0], [1.0, 2.5]), ([1.234], [1.23])])
def test_what_is_not_allowed_is_brought_to_what_is(given: list[float], made: list[float]) -> None:
    assert allowed(np.array(given), 2.5 if max(given) > 5 else 9.0).tolist() == made
