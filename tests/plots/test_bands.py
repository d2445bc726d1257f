"""A band around a curve: where it lies in the picture and in the page's data."""

import io
from pathlib import Path

import numpy as np
from PIL import Image

from gnomon.plots import Curve, Lines, write_figures
from gnomon.plots.draw_matplotlib import draw_image
from gnomon.plots.draw_plotly import to_plotly
from gnomon.plots.palette import LIGHT

X = np.array([1.0, 2.0, 4.0])
BANDED = Curve("a", X, np.array([1.0, 2.0, 3.0]), np.array([0.5, 1.5, 2.0]), np.array([1.5, 2.5, 5.0]))
PLAIN = Curve("b", X, np.array([3.0, 2.0, 1.0]))


def test_the_area_goes_along_the_upper_edge_and_back_along_the_lower() -> None:
    band, plain, line = (to_plotly(Lines("t", (PLAIN, BANDED))).data[index] for index in (0, 1, 2))
    assert (band.fill, band.showlegend, band.hoverinfo, band.meta) == ("toself", False, "skip", 1)
    assert list(band.x) == [1, 2, 4, 4, 2, 1]
    assert list(band.y) == [1.5, 2.5, 5.0, 2.0, 1.5, 0.5]
    assert band.fillcolor.startswith(LIGHT.curves[1])
    assert band.legendgroup == line.legendgroup != plain.legendgroup
    assert (plain.mode, line.mode) == ("lines", "lines+markers")
    assert np.asarray(line.customdata).tolist() == [[0.5, 1.5], [1.5, 2.5], [2.0, 5.0]]


def test_the_colour_of_a_curve_does_not_depend_on_bands_before_it() -> None:
    colors = [to_plotly(Lines("t", (first, PLAIN))).data[-1].line.color for first in (BANDED, PLAIN)]
    assert colors == [LIGHT.curves[1]] * 2


def test_a_png_shows_the_band_in_a_pale_tone_of_the_line() -> None:
    def pale(curve: Curve) -> int:
        image = Image.open(io.BytesIO(draw_image([Lines("t", (curve,))], "png"))).convert("RGB")
        red, green, blue = (int(LIGHT.curves[0][at : at + 2], 16) for at in (1, 3, 5))
        mixed = [0.15 * channel + 0.85 * 255 for channel in (red, green, blue)]
        return int((np.abs(np.asarray(image, float) - mixed).max(-1) < 2).sum())

    assert pale(BANDED) > 20_000
    assert pale(Curve("a", X, BANDED.y)) < 200


def test_one_point_alone_is_marked_and_many_are_not() -> None:
    many = np.arange(1.0, 60.0)
    assert Curve("one", np.array([1.0]), np.array([2.0])).marked
    assert not Curve("many", many, many, many, many).marked
    assert not PLAIN.marked


def test_a_page_with_a_band_is_written(tmp_path: Path) -> None:
    write_figures(Lines("t", (BANDED,), log_x=True), tmp_path / "band.html")
    assert '"fill":"toself"' in (tmp_path / "band.html").read_text(encoding="utf-8")


def test_the_axis_is_labelled_at_the_places_asked_for() -> None:
    axis = to_plotly(Lines("t", (BANDED,), log_x=True, x_ticks=(1.0, 2.5, 4.0))).layout.xaxis
    assert (axis.type, list(axis.tickvals), list(axis.ticktext)) == ("log", [1.0, 2.5, 4.0], ["1", "2.5", "4"])
    assert list(to_plotly(Lines("t", (BANDED,), log_x=True)).layout.xaxis.ticktext) == ["1", "2"]
