"""Windows against splines of scipy, the published search for distances, and what offsets mean."""

from typing import Any

import numpy as np
import pytest
import torch
from torch.nn.functional import interpolate

from gnomon.encodings.window_bias import WindowBias
from gnomon.errors import GnomonError
from gnomon.extending.tables import window
from gnomon.extending.tables.splines import spline_weights
from gnomon.extending.tables.windows import spread
from tests.helpers.weights import normal

RECTANGLES = [((4, 6), (5, 9)), ((7, 5), (12, 6)), ((7, 7), (12, 12))]  # ratios up to 1.5, as far as published


def published_distances(was: int, now: int) -> list[float]:
    """BEiT's fine-tuning code, run_class_finetuning.py: halving an interval for q, then adding its powers."""
    left, right, q = 1.01, 1.5, 0.0
    while right - left > 1e-9:
        q = (left + right) / 2
        if (1 - q ** (was - 1)) / (1 - q) > now - 1:
            right = q
        else:
            left = q
    distances, current = [], 1.0
    for i in range(was - 1):
        distances.append(current)
        current += q ** (i + 1)
    return distances


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 13])
def test_splines_are_those_of_scipy(count: int) -> None:
    interpolation = pytest.importorskip("scipy.interpolate")
    knots = np.cumsum(np.random.default_rng(0).uniform(0.5, 3, count))
    values = np.random.default_rng(1).normal(size=count)
    places = np.linspace(knots[0], knots[-1], 40)
    expected = (
        interpolation.make_interp_spline(knots, values, k=min(3, count - 1))(places)
        if count > 1
        else np.full(40, values[0])
    )
    np.testing.assert_allclose(spline_weights(knots, places) @ values, expected, atol=1e-9)


@pytest.mark.parametrize(("was", "now"), [(7, 12), (14, 24), (4, 5), (16, 20)])
def test_distances_are_those_of_the_published_search(was: int, now: int) -> None:
    np.testing.assert_allclose(spread(was - 1, now - 1), published_distances(was, now), atol=1e-6)


@pytest.mark.parametrize(("source", "target"), RECTANGLES)
def test_geometric_is_the_spline_surface_over_the_published_distances(source: Any, target: Any) -> None:
    interpolation = pytest.importorskip("scipy.interpolate")
    table = normal((2 * source[0] - 1) * (2 * source[1] - 1), 2).double()
    axes = []
    for was, now in zip(source, target, strict=True):
        beyond = published_distances(was, now)
        axes.append([-d for d in reversed(beyond)] + [0.0] + beyond)
    new = [np.arange(1 - now, now, dtype=float) for now in target]
    made = window(table, source, target, kind="geometric")
    for head in range(2):
        image = table[:, head].reshape(2 * source[0] - 1, -1).numpy()
        surface = interpolation.RectBivariateSpline(*axes, image, s=0)(*new)
        np.testing.assert_allclose(made[:, head].reshape(surface.shape).numpy(), surface, atol=1e-4)


def test_the_last_distance_is_reached_where_the_published_search_ends() -> None:
    """It stops at a ratio of 1.5, so that a window of 4 places never becomes one of 6."""
    assert spread(3, 5)[-1] == pytest.approx(5)
    assert published_distances(4, 6)[-1] < 4.8


def test_geometric_keeps_the_biases_of_neighbours() -> None:
    table = normal(13 * 13, 3)
    old, new = table.reshape(13, 13, 3), window(table, (7, 7), (12, 12), kind="geometric").reshape(23, 23, 3)
    torch.testing.assert_close(new[10:13, 10:13], old[5:8, 5:8], atol=1e-5, rtol=0)


@pytest.mark.parametrize(("source", "target"), RECTANGLES)
@pytest.mark.parametrize("kind", ["bicubic", "bilinear"])
def test_the_image_of_offsets_is_resized_as_torch_does(source: Any, target: Any, kind: Any) -> None:
    table = normal((2 * source[0] - 1) * (2 * source[1] - 1) + 3, 2)
    image = table[:-3].T.reshape(1, 2, 2 * source[0] - 1, 2 * source[1] - 1)
    size = (2 * target[0] - 1, 2 * target[1] - 1)
    expected = interpolate(image, size=size, mode=kind, align_corners=False)[0].flatten(1).T
    made = window(table, source, target, prefix=3, kind=kind)
    torch.testing.assert_close(made[:-3], expected, atol=1e-5, rtol=1e-5)
    assert torch.equal(made[-3:], table[-3:])


def test_bilinear_is_what_the_encoding_makes_of_itself() -> None:
    encoding = WindowBias(num_heads=2, window=(3, 5), prefix=True)
    made = window(encoding.weight.detach(), (3, 5), (4, 4), prefix=3, kind="bilinear")
    torch.testing.assert_close(made, encoding.resized((4, 4)).weight.detach(), atol=1e-7, rtol=1e-6)


@pytest.mark.parametrize("kind", ["geometric", "bicubic", "bilinear"])
def test_a_bias_of_one_axis_stays_one_of_that_axis(kind: Any) -> None:
    rows = torch.arange(5.0).repeat_interleave(9)[:, None]  # a window of 3 x 5, by the offset along the height
    made = window(rows, (3, 5), (5, 6), kind=kind).reshape(9, 11)
    torch.testing.assert_close(made, made[:, :1].expand(9, 11), atol=1e-6, rtol=0)
    assert made[0, 0] < made[4, 0] < made[-1, 0]


@pytest.mark.parametrize("kind", ["geometric", "bicubic", "bilinear"])
def test_a_constant_bias_stays_constant_and_is_rounded_once(kind: Any) -> None:
    table = torch.full((49, 2), 0.3).to(torch.bfloat16)
    made = window(table, (4, 4), (9, 6), kind=kind)
    assert made.dtype == torch.bfloat16
    assert torch.equal(made, torch.full((17 * 11, 2), 0.3).to(torch.bfloat16))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"kind": "cubic"}, "geometric, bicubic, bilinear"),
        ({"prefix": 0}, "a table of 45 rows"),
        ({"source": (5, 5)}, "a table of 84 rows"),
        ({"target": (2, 0)}, "in whole numbers from 1"),
    ],
)
def test_what_cannot_be_is_said_in_a_sentence(arguments: Any, said: str) -> None:
    with pytest.raises(GnomonError, match=said):
        window(normal(48, 2), **{"source": (3, 5), "target": (6, 6), "prefix": 3, **arguments})
