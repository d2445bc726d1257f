"""Grids of patches against a scalar reference, torch, and published values of faults in other projects."""

from typing import Any

import pytest
import torch
from torch.nn.functional import interpolate

from gnomon.errors import GnomonError
from gnomon.extending.tables import grid
from gnomon.extending.tables.grids import reference
from tests.helpers.weights import normal


@pytest.mark.parametrize(("source", "target"), [((2, 3), (5, 4)), ((5, 2), (3, 7)), ((3, 3), (3, 6)), ((1, 4), (2, 2))])
def test_bicubic_is_keys_convolution_along_both_axes(source: tuple[int, int], target: tuple[int, int]) -> None:
    table = normal(source[0] * source[1], 2).double()
    made = grid(table, source, target).reshape(*target, 2)
    for channel in range(2):
        image = table[:, channel].reshape(source).tolist()
        expected = [[reference(i, j, image, target) for j in range(target[1])] for i in range(target[0])]
        torch.testing.assert_close(made[..., channel], torch.tensor(expected, dtype=torch.float64), atol=1e-12, rtol=0)


def test_antialiasing_has_the_other_kernel_where_the_grid_grows() -> None:
    table = normal(4 * 5, 1).double()
    made = grid(table, (4, 5), (9, 8), kind="bicubic-antialias").reshape(9, 8)
    image = table[:, 0].reshape(4, 5).tolist()
    inner = [[reference(i, j, image, (9, 8), a=-0.5) for j in range(3, 5)] for i in range(4, 5)]
    torch.testing.assert_close(made[4:5, 3:5], torch.tensor(inner, dtype=torch.float64), atol=1e-6, rtol=0)


def test_a_grid_with_as_many_patches_in_another_shape_is_resized() -> None:
    """pytorch-image-models#2737: left as it was, since the number of patches agreed."""
    made = grid(torch.arange(16.0)[:, None], (2, 8), (4, 4), kind="bilinear").reshape(4, 4)
    assert made[0].tolist() == [0.5, 2.5, 4.5, 6.5]


@pytest.mark.parametrize(("old", "new"), [(14, 61), (14, 115), (37, 39), (37, 78)])
def test_odd_sizes_come_out_whole(old: int, new: int) -> None:
    """facebookresearch/dinov2#378: a scale factor, rounded down, left one patch out."""
    assert len(grid(normal(old * old, 1), (old, old), (new, new))) == new * new


def test_height_and_width_are_not_exchanged() -> None:
    """facebookresearch/dinov2#582: on a grid with one number for each row, each row still has one."""
    table = torch.arange(3.0).repeat_interleave(2)[:, None]
    made = grid(table, (3, 2), (5, 4), kind="bilinear").reshape(5, 4)
    assert torch.equal(made, made[:, :1].expand(5, 4))
    assert (made[1:, 0] > made[:-1, 0]).all()


def test_antialiasing_matters_where_the_grid_shrinks() -> None:
    """openvino.genai#4444."""
    table = normal(8 * 8, 3)
    image = table.T.reshape(1, 3, 8, 8)
    expected = interpolate(image, size=(3, 3), mode="bicubic", antialias=True)[0].flatten(1).T
    made = grid(table, (8, 8), (3, 3), kind="bicubic-antialias")
    torch.testing.assert_close(made, expected, atol=1e-5, rtol=1e-4)
    assert (made - grid(table, (8, 8), (3, 3))).abs().max() > 0.1


@pytest.mark.parametrize("prefix", [0, 1, 2, 5])
def test_rows_before_the_patches_stay_in_front(prefix: int) -> None:
    table = normal(prefix + 6, 4).to(torch.float16)
    made = grid(table, (2, 3), (4, 5), prefix=prefix)
    assert made.dtype == torch.float16
    assert torch.equal(made[:prefix], table[:prefix])
    assert torch.equal(made[prefix:], grid(table[prefix:].double(), (2, 3), (4, 5)).to(torch.float16))


def test_the_same_grid_is_a_copy() -> None:
    table = normal(7, 2)
    made = grid(table, (2, 3), (2, 3), prefix=1)
    assert torch.equal(made, table)
    assert made.data_ptr() != table.data_ptr()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"source": (2, 2)}, "a table of 5 rows, got"),
        ({"prefix": 0}, "a table of 6 rows, got"),
        ({"target": (0, 3)}, "in whole numbers from 1"),
        ({"target": (3,)}, "in whole numbers from 1"),
        ({"kind": "nearest"}, "bicubic, bicubic-antialias, bilinear"),
    ],
)
def test_what_cannot_be_is_said_in_a_sentence(arguments: Any, said: str) -> None:
    with pytest.raises(GnomonError, match=said):
        grid(normal(7, 2), **{"source": (2, 3), "target": (4, 4), "prefix": 1, **arguments})
