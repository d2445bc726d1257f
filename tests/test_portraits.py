"""The figures of an encoding show its numbers, held against sums written out over plain floats."""

import math

import numpy as np
import pytest
import torch

from gnomon.encodings import (
    FIRE,
    KERPLE,
    ALiBiGrid,
    AxialRotary,
    CoPE,
    DeBERTa,
    MRoPE,
    PositionEncoding,
    Sandwich,
    Shaw,
    SinusoidalGrid,
    T5Bias,
    TransformerXL,
    WindowBias,
    XPos,
)
from gnomon.encodings.alibi import ALiBi, reference_slope
from gnomon.encodings.alibi_grid import reference as grid_bias
from gnomon.encodings.frequencies.dynamic import DynamicNTK
from gnomon.encodings.frequencies.dynamic import reference as ntk_frequency
from gnomon.encodings.learned import Learned
from gnomon.encodings.nope import NoPE
from gnomon.encodings.randomized import RandomizedPositions
from gnomon.encodings.rotary import Rotary
from gnomon.encodings.sinusoidal import Sinusoidal, reference
from gnomon.encodings.sinusoidal_grid import reference as grid_vector
from gnomon.encodings.window_bias import reference as window_bias
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


@pytest.mark.parametrize("length", [4, 20, 128])
def test_a_grid_is_wider_than_high_and_has_at_most_so_many_places(length: int) -> None:
    height, width = portrait(ALiBiGrid(num_heads=2), length=length)[0].values.shape  # type: ignore[union-attr]
    assert height < width
    assert length - width < height * width <= length


def test_the_map_of_a_grid_bias_is_its_formula_from_the_middle() -> None:
    figures = portrait(ALiBiGrid(num_heads=3), length=40)
    drawn = heatmap(figures, "Bias of head 0").values
    formula = [[grid_bias(0, (2, 4), (y, x), num_heads=3, metric="euclidean") for x in range(8)] for y in range(5)]
    np.testing.assert_allclose(drawn, formula, atol=1e-6)
    for head in range(3):
        expected = [grid_bias(head, (2, 4), (2, x), num_heads=3, metric="euclidean") for x in range(8)]
        np.testing.assert_allclose(curve(figures, "Bias along the width", head), expected, atol=1e-6)


def test_a_window_is_drawn_whole_and_against_the_place_of_the_query() -> None:
    encoding = WindowBias(2, window=(3, 5))
    drawn = heatmap(portrait(encoding, length=4), "Bias of head 0").values
    table = encoding.weight.detach().double().tolist()
    formula = [[window_bias(0, (1, 2), (y, x), table=table, window=(3, 5)) for x in range(5)] for y in range(3)]
    np.testing.assert_allclose(drawn, np.array(formula) - formula[1][2], atol=1e-6)
    assert drawn[1, 2] == 0.0


def test_the_map_of_an_axial_rotation_is_the_mean_over_pairs() -> None:
    figures = portrait(AxialRotary(head_dim=8), length=40)
    pairs = [(axis, w) for axis in (0, 1) for w in (1.0, 0.01)]

    def score(y: int, x: int) -> float:
        return sum(math.cos((y, x)[axis] * w) for axis, w in pairs) / len(pairs)

    expected = [[score(y - 2, x - 4) for x in range(8)] for y in range(5)]
    np.testing.assert_allclose(heatmap(figures, "Score of equal vectors seen").values, expected, atol=1e-6)
    np.testing.assert_allclose(
        curve(figures, "Score of equal vectors along", 0), [row[4] for row in expected], atol=1e-6
    )
    np.testing.assert_allclose(curve(figures, "Score of equal vectors along", 1), expected[2], atol=1e-6)


def test_video_has_a_curve_for_time_and_a_map_at_one_time() -> None:
    figures = portrait(MRoPE(head_dim=6, sections=(1, 1, 1)), length=40)
    lines = named(figures, "Score of equal vectors along")
    assert isinstance(lines, Lines)
    assert [c.name for c in lines.curves] == ["along the time", "along the height", "along the width"]
    expected = [(math.cos(t - 4) + 2) / 3 for t in range(8)]
    np.testing.assert_allclose(lines.curves[0].y, expected, atol=1e-6)
    slow = [10000 ** (-1 / 3), 10000 ** (-2 / 3)]
    drawn = [[(1 + math.cos((y - 2) * slow[0]) + math.cos((x - 4) * slow[1])) / 3 for x in range(8)] for y in range(5)]
    np.testing.assert_allclose(heatmap(figures, "Score of equal vectors seen").values, drawn, atol=1e-6)


def test_the_map_of_grid_vectors_is_their_cosine_with_the_middle() -> None:
    figures = portrait(SinusoidalGrid(8), length=40)

    def vector(y: int, x: int) -> list[float]:
        return [grid_vector((y, x), column, widths=(4, 4), order=(0, 1), layout="half") for column in range(8)]

    def cosine(y: int, x: int) -> float:
        return sum(a * b for a, b in zip(vector(2, 4), vector(y, x), strict=True)) / 4  # each pair has length 1

    expected = [[cosine(y, x) for x in range(8)] for y in range(5)]
    np.testing.assert_allclose(heatmap(figures, "Similarity seen").values, expected, atol=1e-6)
    np.testing.assert_allclose(heatmap(figures, "Values").values[9], vector(1, 1), atol=1e-6)


def test_the_scores_of_xpos_decay_by_its_scale() -> None:
    figures = portrait(XPos(head_dim=4, max_length=64), length=9)
    zetas, waves = [0.4 / 1.4, (2 * 1 / 4 + 0.4) / 1.4], [1.0, 0.01]
    expected = [sum(z ** (d / 512) * math.cos(d * w) for z, w in zip(zetas, waves, strict=True)) / 2 for d in range(9)]
    np.testing.assert_allclose(curve(figures, "Score of equal vectors by"), expected, atol=1e-6)
    drawn = heatmap(figures, "Score of equal vectors at").values
    assert np.isnan(drawn[2, 3])
    assert drawn[3, 1] == pytest.approx(expected[2], abs=1e-6)


def test_frequencies_that_depend_on_the_length_are_drawn_at_two() -> None:
    rule = DynamicNTK(factor=2.0, original_max_length=32)
    lines = named(portrait(Rotary(head_dim=8, frequencies=rule), length=16), "Wavelengths at")
    assert isinstance(lines, Lines)
    assert [c.name for c in lines.curves] == ["length 32", "length 128"]
    for drawn, length in zip(lines.curves, (32, 128), strict=True):
        expected = [2 * math.pi / ntk_frequency(i, 8, 2.0, 32, 10000.0, length) for i in range(4)]
        np.testing.assert_allclose(drawn.y, expected, rtol=1e-12)


@pytest.mark.parametrize(
    "encoding", [Shaw(2, 4), TransformerXL(2, 4, dim=8), DeBERTa(2, 4, dim=8), CoPE(2, 4)], ids=repr
)
def test_a_content_bias_is_drawn_with_drawn_vectors_and_says_so(encoding: PositionEncoding) -> None:
    figures = portrait(encoding, length=9)
    assert all(figure.title.endswith("drawn q and k") for figure in figures)
    drawn = heatmap(figures, "Content bias").values
    assert drawn.shape == (9, 9)
    assert np.isnan(drawn[0, 1]) == encoding.causal_only
    again = portrait(encoding, length=9)
    assert curve(again, "Size by distance", 1) == curve(figures, "Size by distance", 1)


def test_the_size_of_a_content_bias_is_that_of_its_rows() -> None:
    encoding = Shaw(num_heads=1, head_dim=4, max_distance=(2, 0))
    with torch.no_grad():
        encoding.weight.copy_(torch.tensor([[3.0, 0, 0, 0], [0, 2.0, 0, 0], [0, 0, 1.0, 0]]))
    sizes = curve(portrait(encoding, length=6), "Size by distance")
    # q . a / 2 with unit normal q has the spread |a| / 2; 128 draws know it within a few times 1 / 16.
    np.testing.assert_allclose(sizes, [0.5, 1.0, 1.5, 1.5, 1.5, 1.5], rtol=0.25)
    assert sizes[2] == sizes[5]


def test_the_draws_do_not_repeat_a_table_of_the_same_seed() -> None:
    torch.manual_seed(0)
    drawn = heatmap(portrait(Shaw(2, 64), length=64), "Content bias").values
    assert np.abs(drawn).max() < 0.13  # a spread of 0.02; a query that equals a row gets 0.16


def test_random_positions_show_their_ids_and_the_inner_encoding_at_them() -> None:
    encoding = RandomizedPositions(ALiBi(num_heads=1), max_length=8, span=40)
    ids = encoding.ids.tolist()
    figures = portrait(encoding, length=8)
    assert curve(figures, "Id of each position") == ids
    expected = [[-reference_slope(0, 1) * abs(query - key) for key in ids] for query in ids]
    np.testing.assert_allclose(heatmap(figures, "Bias of head 0").values, expected, atol=1e-6)
