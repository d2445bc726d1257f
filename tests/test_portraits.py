"""The figures of an encoding show its numbers, held against sums written out over plain floats."""

import math

import numpy as np
import pytest
import torch

from gnomon.encodings import FIRE, KERPLE, PositionEncoding, Sandwich, T5Bias
from gnomon.encodings.alibi import ALiBi, reference_slope
from gnomon.encodings.learned import Learned
from gnomon.encodings.nope import NoPE
from gnomon.encodings.rotary import Rotary
from gnomon.encodings.sinusoidal import Sinusoidal, reference
from gnomon.errors import GnomonError, PositionError
from gnomon.plots.figure import Figure, Heatmap, Lines
from gnomon.plots.portraits import MAX_CELLS
from gnomon.portraits import bias_portrait, cosine_by_distance, portrait, rotary_portrait, table_portrait
from tests.helpers.bias_encodings import bias_formula


def named(figures: tuple[Figure, ...], start: str) -> Figure:
    [figure] = [figure for figure in figures if figure.title.startswith(start)]
    return figure


def heatmap(figures: tuple[Figure, ...], start: str) -> Heatmap:
    figure = named(figures, start)
    assert isinstance(figure, Heatmap)
    return figure


def curve(figures: tuple[Figure, ...], start: str, index: int = 0) -> list[float]:
    figure = named(figures, start)
    assert isinstance(figure, Lines)
    return [float(value) for value in figure.curves[index].y]


def test_the_heat_map_of_a_sinusoid_is_its_formula() -> None:
    values = heatmap(portrait(Sinusoidal(6), length=9), "Values").values
    expected = [[reference(position, column, 6) for column in range(6)] for position in range(9)]
    np.testing.assert_allclose(values, expected, atol=1e-6)


def test_the_heat_map_of_a_learned_table_leaves_out_reserved_rows() -> None:
    encoding = Learned(max_length=12, dim=3, padding_offset=2)
    values = heatmap(portrait(encoding, length=7), "Values").values
    np.testing.assert_array_equal(values, encoding.weight[2:9].detach().numpy().astype(np.float64))


def test_the_mean_cosine_by_distance_equals_the_sum_over_all_pairs() -> None:
    table = torch.randn(7, 5, generator=torch.Generator().manual_seed(0)).double().numpy()
    rows = [[float(value) for value in row] for row in table]

    def cosine(a: list[float], b: list[float]) -> float:
        return sum(x * y for x, y in zip(a, b, strict=True)) / math.sqrt(sum(x * x for x in a) * sum(y * y for y in b))

    expected = [sum(cosine(rows[i], rows[i + d]) for i in range(7 - d)) / (7 - d) for d in range(7)]
    distances, cosines = cosine_by_distance(table)
    assert list(distances) == list(range(7))
    np.testing.assert_allclose(cosines, expected, atol=1e-12)


def test_a_row_of_zeros_or_infinities_has_no_direction() -> None:
    _, cosines = cosine_by_distance(np.array([[0.0, 0.0], [1.0, 0.0], [np.inf, 1.0], [1.0, 0.0]]))
    np.testing.assert_allclose(cosines, [0.5, 0.0, 0.5, 0.0], atol=1e-12)


def test_the_rotary_table_is_cosines_then_sines() -> None:
    values = heatmap(portrait(Rotary(head_dim=4), length=5), "Cosines").values
    frequencies = [1.0, 0.01]
    expected = [[*(math.cos(p * w) for w in frequencies), *(math.sin(p * w) for w in frequencies)] for p in range(5)]
    np.testing.assert_allclose(values, expected, atol=1e-12)


def test_the_rotary_decay_is_the_score_of_equal_vectors() -> None:
    encoding, length = Rotary(head_dim=8), 6
    vector = torch.ones(1, 1, 1, 8)
    expected = []
    for distance in range(length):
        query = encoding.rotate_query(vector, torch.tensor([[distance]]))
        expected.append(float((query * encoding.rotate_key(vector, torch.tensor([[0]]))).sum()) / 8)
    np.testing.assert_allclose(curve(portrait(encoding, length=length), "Score"), expected, atol=1e-6)


def test_the_attention_factor_enters_the_score_twice() -> None:
    figures = rotary_portrait(np.array([1.0, 0.1]), length=4, attention_factor=1.5)
    assert curve(figures, "Score")[0] == pytest.approx(2.25)
    assert heatmap(figures, "Cosines").values[0].tolist() == [1.5, 1.5, 0.0, 0.0]


@pytest.mark.parametrize("form", ["symmetric", "causal"])
def test_the_bias_lines_fall_with_the_slope_of_each_head(form: str) -> None:
    figures = portrait(ALiBi(num_heads=6, form=form), length=5)  # type: ignore[arg-type]
    for head in range(6):
        expected = [-reference_slope(head, 6) * distance for distance in range(5)]
        np.testing.assert_allclose(curve(figures, "Bias by", head), expected, atol=1e-6)


@pytest.mark.parametrize(
    "encoding",
    [T5Bias(2), T5Bias(2, direction="causal"), KERPLE(2), KERPLE(2, form="power"), Sandwich(2), FIRE(2, threshold=4)],
    ids=lambda encoding: repr(encoding),
)
def test_the_figures_of_a_bias_are_its_formula(encoding: PositionEncoding) -> None:
    figures, formula = portrait(encoding, length=9), bias_formula(encoding)
    drawn = [[formula(0, query, key) for key in range(9)] for query in range(9)]
    np.testing.assert_allclose(heatmap(figures, "Bias of head 0").values, drawn, rtol=1e-5, atol=1e-6)
    for head in range(2):
        expected = [formula(head, 8, 8 - distance) - formula(head, 8, 8) for distance in range(9)]
        np.testing.assert_allclose(curve(figures, "Bias by", head), expected, rtol=1e-5, atol=1e-6)


def test_a_long_bias_is_asked_for_only_where_it_is_drawn() -> None:
    drawn = heatmap(portrait(ALiBi(num_heads=2), length=1000), "Bias of head 0")
    assert drawn.x is not None
    assert drawn.y is not None
    assert len(drawn.x) <= MAX_CELLS
    slope = reference_slope(0, 2)
    expected = [[-slope * abs(query - key) for key in drawn.x.tolist()] for query in drawn.y.tolist()]
    np.testing.assert_allclose(drawn.values, expected, rtol=1e-6)
    assert "of 1000 positions" in drawn.note


def test_rows_of_a_bias_are_queries() -> None:
    bias = np.array([[0.0, -1.0, -2.0], [-5.0, 0.0, -1.0], [-7.0, -5.0, 0.0]])
    drawn = heatmap(bias_portrait(bias, bias[-1:, ::-1]), "Bias of head 0")
    assert (drawn.y_label, drawn.x_label) == ("query position", "key position")
    assert drawn.values[1, 0] == -5.0


@pytest.mark.parametrize("positions", [1, 2, 3])
def test_a_table_too_short_for_waves_has_the_other_figures(positions: int) -> None:
    figures = table_portrait(np.ones((positions, 3)))
    assert len(figures) == 3
    assert not [figure for figure in figures if figure.title.startswith("Waves")]


def test_a_title_goes_in_front_of_every_figure() -> None:
    figures = table_portrait(np.eye(5), title="word embeddings")
    assert all(figure.title.startswith("word embeddings: ") for figure in figures)
    assert len({figure.title for figure in figures}) == len(figures) == 4


def test_an_encoding_without_numbers_is_a_clear_error() -> None:
    with pytest.raises(GnomonError, match="NoPE has no numbers to draw"):
        portrait(NoPE(), length=8)


def test_a_length_past_the_table_names_the_limit() -> None:
    with pytest.raises(PositionError, match="max_length=12"):
        portrait(Learned(max_length=12, dim=3), length=13)
