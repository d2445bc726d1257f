"""Curves from evidence: means and bands by hand, axes, what is left out."""

import pytest

from gnomon.lab.figures import figures
from gnomon.plots.draw_plotly import to_plotly
from gnomon.plots.figure import Lines
from gnomon.plots.palette import LIGHT
from gnomon.report.lab.evidence import Evidence
from gnomon.report.lab.results import MeasureInfo, Result, Run, Series

PPL = MeasureInfo("perplexity", "perplexity", "", "length", "lower")
LOSS = MeasureInfo("loss", "loss", "nats", "", "lower")


def results(variant: str, *seeds: tuple[float | None, ...], at: tuple[float, ...] = (64, 128, 512)) -> list[Result]:
    return [
        Result(
            Run("train", "copy", variant, seed),
            {variant: {"perplexity": Series(at, values), "loss": Series.number(1.0)}},
            seconds=1.0,
        )
        for seed, values in enumerate(seeds)
    ]


def drawn(*several: list[Result]) -> Lines:
    [figure] = figures(Evidence([one for part in several for one in part]), [PPL, LOSS])
    assert isinstance(figure, Lines)
    return figure


def test_a_line_is_the_mean_of_seeds_and_its_band_goes_from_the_lowest_to_the_highest() -> None:
    figure = drawn(results("rotary", (1.0, 2.0, 9.0), (3.0, 2.0, 3.0), (5.0, 5.0, 6.0)))
    [curve] = figure.curves
    assert curve.band is not None
    assert (curve.name, curve.x.tolist(), curve.y.tolist()) == ("rotary", [64, 128, 512], [3.0, 3.0, 6.0])
    assert [edge.tolist() for edge in curve.band] == [[1.0, 2.0, 3.0], [5.0, 5.0, 9.0]]
    assert (figure.title, figure.x_label, figure.y_label) == ("perplexity: copy", "length", "perplexity")
    assert figure.note == (
        "Lines are means of 3 seeds; bands reach from the lowest seed to the highest. Lower is better."
    )
    assert figure.x_ticks == (64, 128, 512)


def test_places_without_a_number_have_no_point_and_a_variant_without_any_has_no_line() -> None:
    figure = drawn(
        results("rotary", (1.0, 2.0, 3.0)),
        results("learned", (1.0, None, None), (2.0, None, None)),
        results("broken", (None, None, None)),
    )
    assert [(curve.name, curve.x.tolist()) for curve in figure.curves] == [
        ("rotary", [64, 128, 512]),
        ("learned", [64]),
    ]
    assert figure.curves[1].y.tolist() == [1.5]


@pytest.mark.parametrize(
    ("at", "values", "log_x", "log_y"),
    [
        ((64.0, 128.0, 256.0), (6.0, 7.0, 119.0), True, False),
        ((64.0, 255.0), (6.0, 121.0), False, True),
        ((50.0, 100.0, 150.0, 200.0), (1.0, 1.0, 1.0, 1.0), False, False),
        ((64.0, 80.0, 96.0, 128.0, 256.0, 512.0), (1.0,) * 6, True, False),
        ((0.0, 9.0), (0.0, 9.0), False, False),
    ],
)
def test_axes_are_logarithmic_where_the_span_is_wide(
    at: tuple[float, ...], values: tuple[float, ...], log_x: bool, log_y: bool
) -> None:
    figure = drawn(results("rotary", values, at=at))
    assert (figure.log_x, figure.log_y) == (log_x, log_y)


@pytest.mark.parametrize("at", [tuple(float(n) for n in range(40)), (10.0, 25.0, 75.0, 90.0, 99.0, 100.0)])
def test_places_whose_labels_would_overlap_are_labelled_at_round_values(at: tuple[float, ...]) -> None:
    figure = drawn(results("rotary", at, at=at))
    assert figure.x_ticks == ()
    assert not figure.log_x


def test_a_measure_at_one_place_is_no_curve() -> None:
    assert figures(Evidence(results("rotary", (1.0,), at=(64.0,))), [PPL, LOSS]) == ()


def test_a_variant_looks_the_same_where_another_one_is_missing() -> None:
    figure = drawn(results("learned", (None, None, None)), results("nope", (1.0, 2.0, 3.0)))
    assert [(curve.name, style) for style, curve in figure.styled] == [("nope", 1)]
    assert to_plotly(figure).data[-1].line.color == LIGHT.curves[1]
