"""Edges, scales and ends of colours."""

import numpy as np
import pytest

from gnomon.plots.axes import edges, has_values_beyond, limits, round_values
from gnomon.plots.figure import Heatmap


def figure_of(values: list[list[float]], *, centered: bool = True, limit: float | None = None) -> Heatmap:
    return Heatmap("t", np.array(values), "x", "y", centered=centered, limit=limit)


def test_edges_of_octaves_are_halfway_in_logarithms() -> None:
    np.testing.assert_allclose(edges(np.array([2.0, 4.0, 8.0])), 2 ** np.array([0.5, 1.5, 2.5, 3.5]))


def test_edges_of_uneven_cells_are_halfway() -> None:
    assert edges(np.array([0.0, 1.0, 5.0])).tolist() == [-0.5, 0.5, 3.0, 7.0]


def test_one_cell_is_one_wide() -> None:
    assert edges(np.array([7.0])).tolist() == [6.5, 7.5]


@pytest.mark.parametrize(
    ("figure", "expected"),
    [
        (figure_of([[-1.0, 3.0]]), (-3.0, 3.0)),
        (figure_of([[1.0, 3.0]], centered=False), (1.0, 3.0)),
        (figure_of([[-9.0, 3.0]], limit=2.0), (-2.0, 2.0)),
        (figure_of([[0.0, 0.0]]), (-1.0, 1.0)),
        (figure_of([[2.0, 2.0]], centered=False), (1.5, 2.5)),
        (figure_of([[np.nan, np.nan]]), (-1.0, 1.0)),
    ],
)
def test_colours_are_centred_on_zero_and_never_empty(figure: Heatmap, expected: tuple[float, float]) -> None:
    assert limits(figure) == expected


def test_values_beyond_the_colours_are_noticed() -> None:
    assert has_values_beyond(figure_of([[-9.0, 3.0, np.nan]], limit=2.0))
    assert not has_values_beyond(figure_of([[-9.0, 3.0, np.nan]]))


def test_round_values_stay_inside() -> None:
    assert round_values(0.3, 12) == pytest.approx([0.5, 1, 2, 5, 10])
