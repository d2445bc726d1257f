"""The numbers behind the figures, against plain Python."""

import math

import numpy as np
import pytest

from gnomon.errors import GnomonError, ShapeError
from gnomon.plots import decay, heat_map, similarity
from gnomon.plots.portraits import MAX_CELLS, kept
from tests.helpers.sample_report import sinusoids


def test_a_small_table_is_drawn_as_it_stands() -> None:
    table = sinusoids(7, 4)
    figure = heat_map(table)
    np.testing.assert_array_equal(figure.values, table)
    assert figure.x is not None
    assert figure.y is not None
    assert (figure.x.tolist(), figure.y.tolist()) == ([0, 1, 2, 3], [0, 1, 2, 3, 4, 5, 6])
    assert (figure.x_label, figure.y_label, figure.centered) == ("dimension", "position", True)
    assert "Drawn" not in figure.note


def test_a_big_table_is_thinned_to_true_values_at_true_places_and_says_so() -> None:
    table = np.arange(1100.0)[:, None] * 1000 + np.arange(30.0)
    figure = heat_map(table, max_cells=20)
    assert figure.x is not None
    assert figure.y is not None
    assert figure.values.shape == (20, 15)
    np.testing.assert_array_equal(figure.values, figure.y[:, None] * 1000 + figure.x)
    assert "Drawn: 20 of 1100 positions, one from each 55 at random." in figure.note
    assert "Drawn: 15 of 30 dimensions, one from each 2 at random." in figure.note


def test_thinning_keeps_one_from_each_block_and_never_more_than_the_limit() -> None:
    for count, limit in ((1, 1), (5, 9), (9, 9), (10, 9), (8192, 512), (1000, 7)):
        indices = kept(count, limit)
        step = math.ceil(count / limit)
        assert len(indices) <= limit
        assert [index // step for index in indices] == list(range(math.ceil(count / step)))
        assert indices[-1] < count


def test_thinning_does_not_turn_a_fast_wave_into_a_slow_one() -> None:
    """At even steps of 16, a wave of 16.1 positions would look like one of 2576."""
    wave = np.sin(2 * math.pi * np.arange(8192) / 16.1)[:, None]
    drawn = heat_map(wave, max_cells=512).values[:, 0]
    assert abs(np.corrcoef(drawn[:-1], drawn[1:])[0, 1]) < 0.2
    even = wave[::16, 0]
    assert np.corrcoef(even[:-1], even[1:])[0, 1] > 0.99


def test_an_outlier_does_not_wash_out_the_colours_and_the_note_says_where_they_end() -> None:
    table = 0.01 * sinusoids(60, 20)
    table[3, 5] = -1.9
    figure = heat_map(table)
    assert figure.limit is not None
    assert figure.limit < 0.02
    assert "Colours end at 0.01; the largest value has size 1.9." in figure.note
    assert figure.values[3, 5] == -1.9


def test_values_that_are_not_finite_are_blank_and_counted() -> None:
    table = sinusoids(4, 4)
    table[1, 2], table[3, 3] = math.inf, math.nan
    figure = heat_map(table)
    assert np.isnan(figure.values).sum() == 2
    assert "2 values are not finite" in figure.note


def test_similarity_is_the_cosine_of_two_rows() -> None:
    table = sinusoids(9, 6) * np.arange(1.0, 10.0)[:, None]
    figure = similarity(table)
    for i in (0, 4, 8):
        for j in (1, 8):
            dot = sum(float(a) * float(b) for a, b in zip(table[i], table[j], strict=True))
            expected = dot / (math.hypot(*table[i]) * math.hypot(*table[j]))
            assert figure.values[i, j] == pytest.approx(expected, abs=1e-12)
    assert figure.limit == 1.0


def test_similarity_of_a_zero_row_is_blank_and_counted() -> None:
    table = sinusoids(5, 4)
    table[2] = 0
    figure = similarity(table)
    assert np.isnan(figure.values[2]).all()
    assert np.isnan(figure.values[:, 2]).all()
    assert np.isfinite(np.delete(np.delete(figure.values, 2, 0), 2, 1)).all()
    assert "1 positions are zero" in figure.note


def test_decay_keeps_one_curve_for_each_name() -> None:
    figure = decay(np.arange(3.0), np.array([[0.0, -1.0, -2.0], [0.0, -0.5, -1.0]]), names=("head 1", "head 2"))
    assert [(c.name, c.x.tolist(), c.y.tolist()) for c in figure.curves] == [
        ("head 1", [0, 1, 2], [0, -1, -2]),
        ("head 2", [0, 1, 2], [0, -0.5, -1]),
    ]


def test_decay_of_one_row_needs_no_second_axis() -> None:
    assert decay(np.arange(2.0), np.array([1.0, 0.5])).curves[0].y.tolist() == [1.0, 0.5]


def test_scores_of_another_length_than_the_distances_are_refused() -> None:
    with pytest.raises(ShapeError, match=r"got scores \(4,\) and distances \(3,\)"):
        decay(np.arange(3.0), np.zeros(4))


@pytest.mark.parametrize("shape", [(3,), (0, 4), (4, 0), (2, 3, 4)])
def test_what_is_no_table_is_refused_with_its_shape(shape: tuple[int, ...]) -> None:
    for portrait in (heat_map, similarity):
        with pytest.raises(ShapeError, match=rf"got shape \({shape[0]},"):
            portrait(np.zeros(shape))


def test_complex_numbers_are_refused() -> None:
    with pytest.raises(GnomonError, match="complex128"):
        heat_map(np.zeros((2, 2), dtype=complex))


def test_the_usual_learned_table_is_drawn_whole() -> None:
    assert heat_map(np.zeros((512, 384))).values.shape == (512, 384)
    assert MAX_CELLS == 512
