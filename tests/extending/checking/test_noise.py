import math
from statistics import fmean, stdev

import numpy as np
import pytest

from gnomon.extending.checking.noise import BLOCK, Change, compare, errors


def losses(rows: int, places: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).gamma(2.0, size=(rows, places))


def test_the_standard_error_is_that_of_means_over_blocks_of_the_paired_differences() -> None:
    before, after = losses(3, 70, seed=0), losses(3, 70, seed=1)
    draws = [
        fmean(float(after[row, i] - before[row, i]) for i in range(start, start + BLOCK))
        for row in range(3)
        for start in (70 - 2 * BLOCK, 70 - BLOCK)  # whole blocks, counted from the end
    ]
    change = compare(before, after)
    assert change.draws == 6
    assert change.error == pytest.approx(stdev(draws) / math.sqrt(6), rel=1e-12)
    assert change.before == pytest.approx(fmean(before.ravel().tolist()), rel=1e-12)


def test_what_both_models_share_is_not_noise() -> None:
    common, steady = losses(4, 64, seed=2), 0.01
    change = compare(common, common + steady)
    assert change.direction == 1
    assert change.error == pytest.approx(0.0, abs=1e-12)


def test_places_without_a_loss_are_left_out_of_mean_and_blocks() -> None:
    before = losses(2, 96, seed=3)
    before[:, :40] = np.nan
    after = before + 0.5
    change = compare(before, after)
    assert change.draws == 4  # one of three blocks of each row has no number
    assert change.before == pytest.approx(fmean(before[:, 40:].ravel().tolist()))
    assert change.difference == pytest.approx(0.5)


def test_whole_rows_can_be_the_draws() -> None:
    before, after = losses(5, 7, seed=4), losses(5, 7, seed=5)
    assert compare(before, after, block=None).draws == 5


def test_one_side_alone_gives_no_difference() -> None:
    change = compare(None, np.ones((2, 40)))
    assert (change.before, change.after, change.difference, change.direction) == (None, 1.0, None, 0)
    assert change.sentence("loss") == "the loss could not be compared"


@pytest.mark.parametrize("draws", [4, 8, 20, 200])
def test_few_draws_need_more_standard_errors_as_students_t_has_it(draws: int) -> None:
    special = pytest.importorskip("scipy.special")
    exact = float(special.stdtrit(draws - 1, special.ndtr(3.0)))
    assert errors(draws) == pytest.approx(exact, rel=1e-4)


@pytest.mark.parametrize(
    ("change", "direction"),
    [
        (Change(2.0, 2.5, 0.1, 100), 1),
        (Change(2.5, 2.0, 0.1, 100), -1),
        (Change(2.0, 2.25, 0.1, 100), 0),  # within three standard errors
        (Change(2.0, 2.4, 0.1, 8), 0),  # few draws: four standard errors are not enough
        (Change(2.0, 2.5, 0.0, 3), 0),  # too few draws to know the noise
        (Change(2.0, 2.00005, 0.0, 100), 0),  # rounding
        (Change(2.0, math.inf, 0.1, 100), 0),
        (Change(2.0, 2.5, None, 1), 0),
    ],
)
def test_a_direction_is_claimed_beyond_noise_only(change: Change, direction: int) -> None:
    assert change.direction == direction
    assert ("rose" in change.sentence("loss"), "fell" in change.sentence("loss")) == (direction > 0, direction < 0)


def test_pure_noise_is_called_a_difference_about_once_in_370_times() -> None:
    drawn = np.random.default_rng(0)
    claims = 0
    for _ in range(400):
        before = drawn.normal(size=(2, 4 * BLOCK))
        claims += abs(compare(before, before + drawn.normal(size=before.shape)).direction)
    assert claims <= 5


def test_what_would_be_needed_is_said_of_few_draws() -> None:
    """Student's t with 7 degrees of freedom: 4.53 for a chance of 1 in 370."""
    few = Change(2.0, 2.1, 0.05, draws=8).sentence("share", "documents")
    assert few.endswith("; only 8 documents: 4.5 standard errors would be needed")
    alone = Change(2.0, 2.1, None, draws=1).sentence("loss")
    assert alone.endswith("; 1 of the 4 blocks of 32 tokens at most that would be needed")
