"""The figures of an encoding of places on a grid: maps of height and width, seen from the place in the middle."""

import math
from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from gnomon.encodings.base import PositionEncoding
from gnomon.errors import GnomonError
from gnomon.plots.figure import Curve, Figure, Heatmap, Lines
from gnomon.plots.portraits import heat_map
from gnomon.portraits.rotations import equal_scores, sizes
from gnomon.portraits.titles import join
from gnomon.positions import grid

NAMES = ("time", "height", "width")  #: of the last axes


def grid_of(encoding: PositionEncoding, length: int, title: str) -> tuple[Figure, ...]:
    """Figures of an encoding with several axes on its own grid, or on one of at most `length` places."""
    extents = drawn_extents(encoding, length)
    plane, middle = plane_of(extents), middle_of(extents)
    if encoding.bias(middle, middle) is not None:
        return _bias_figures(encoding, extents, title)
    if sizes(encoding)[1]:
        return _rotation_figures(encoding, extents, title)
    if "dim" not in encoding.options:
        raise GnomonError(f"{type(encoding).__name__} has no numbers to draw: it adds no vector and no bias.")
    table = encoding.embed(torch.zeros(1, plane.shape[1], encoding.options["dim"]), plane)[0].numpy()
    return heat_map(table, title=join(title, "Values in reading order")), *_embedding_figures(encoding, extents, title)


def drawn_extents(encoding: PositionEncoding, length: int) -> tuple[int, ...]:
    """The encoding's own grid, or one that is wider than high, with at most `length` places in height and width.

    >>> from gnomon.encodings import ALiBiGrid, MRoPE
    >>> drawn_extents(ALiBiGrid(num_heads=2), 128), drawn_extents(MRoPE(head_dim=128), 128)
    ((9, 14), (14, 9, 14))
    """
    if encoding.grid is not None:
        return encoding.grid
    height = max(math.isqrt(2 * length // 3), 1)
    width = length // height
    return (*[width] * (encoding.axes - 2), height, width)


def middle_of(extents: Sequence[int]) -> Int[Tensor, "1 1 axes"]:
    return torch.tensor([[[extent // 2 for extent in extents]]])


def plane_of(extents: Sequence[int]) -> Int[Tensor, "1 S axes"]:
    """All places of height and width, in reading order, at the middle of the other axes."""
    places = grid(*extents[-2:])
    return torch.cat((middle_of(extents)[..., :-2].expand(1, places.shape[1], -1), places), dim=-1)


def line_of(extents: Sequence[int], axis: int) -> Int[Tensor, "1 S axes"]:
    """All places along one axis, at the middle of the others."""
    line = middle_of(extents).repeat(1, extents[axis], 1)
    line[..., axis] = torch.arange(extents[axis])
    return line


def _bias_figures(encoding: PositionEncoding, extents: Sequence[int], title: str) -> tuple[Figure, ...]:
    def from_middle(places: Int[Tensor, "1 S axes"]) -> Float[np.ndarray, "heads S"]:
        bias = encoding.bias(middle_of(extents), places)
        if bias is None:
            raise GnomonError(f"{type(encoding).__name__} gives a bias for some positions only.")
        return bias[0, :, 0].double().numpy()

    own, across = from_middle(middle_of(extents)), from_middle(line_of(extents, -1))
    names = [f"head {head}" for head in range(len(across))]
    seen = (from_middle(plane_of(extents)) - own)[0]
    label = "bias on the logits, against the query's own place"
    return (
        _map(seen, extents, title=join(title, "Bias of head 0"), value=label, centered=True),
        _lines(extents, -1, names, across - own, title=join(title, "Bias along the width"), y_label=label),
    )


def _rotation_figures(encoding: PositionEncoding, extents: Sequence[int], title: str) -> tuple[Figure, ...]:
    middle = middle_of(extents)
    heads = sizes(encoding)[0]
    figures: list[Figure] = []
    for head in range(min(heads, 2)):
        seen = equal_scores(encoding, middle, plane_of(extents))[head, 0]
        of_head = f" in head {head}" if heads > 1 else ""
        heading = join(title, f"Score of equal vectors{of_head}")
        figures.append(_map(seen, extents, title=heading, value="score"))
    along = [equal_scores(encoding, middle, line_of(extents, axis))[0, 0] for axis in range(encoding.axes)]
    heading = join(title, "Score of equal vectors along each axis" + (" in head 0" if heads > 1 else ""))
    return *figures, _along_axes(extents, along, title=heading, y_label="score / score without turning")


def _embedding_figures(encoding: PositionEncoding, extents: Sequence[int], title: str) -> tuple[Figure, ...]:
    def cosines(places: Int[Tensor, "1 S axes"]) -> Float[np.ndarray, " S"]:
        both = torch.cat((middle_of(extents), places), dim=1)
        table = encoding.embed(torch.zeros(1, both.shape[1], encoding.options["dim"]), both)[0].double()
        return torch.nn.functional.cosine_similarity(table[:1], table[1:]).numpy()

    along = [cosines(line_of(extents, axis)) for axis in range(encoding.axes)]
    return (
        _map(cosines(plane_of(extents)), extents, title=join(title, "Similarity"), value="cosine"),
        _along_axes(extents, along, title=join(title, "Similarity along each axis"), y_label="cosine"),
    )


def _map(
    values: Float[np.ndarray, " S"], extents: Sequence[int], *, title: str, value: str, centered: bool = False
) -> Heatmap:
    row, column = (extent // 2 for extent in extents[-2:])
    note = f"Between the place in row {row}, column {column} and every place."
    if len(extents) > 2:
        note += " The other coordinates are the same."
    shaped = np.asarray(values, dtype=np.float64).reshape(*extents[-2:])
    return Heatmap(f"{title} seen from the middle", shaped, "column", "row", value, centered, note)


def _along_axes(
    extents: Sequence[int], values: Sequence[Float[np.ndarray, " S"]], *, title: str, y_label: str
) -> Lines:
    curves = tuple(
        Curve(f"along the {name_of_axis(axis, len(extents))}", _steps(extents[axis]), seen.astype(np.float64))
        for axis, seen in enumerate(values)
    )
    return Lines(title, curves, "places from the middle", y_label)


def _lines(
    extents: Sequence[int],
    axis: int,
    names: Sequence[str],
    values: Float[np.ndarray, "curves S"],
    *,
    title: str,
    y_label: str,
) -> Lines:
    curves = tuple(Curve(name, _steps(extents[axis]), row) for name, row in zip(names, values, strict=True))
    return Lines(title, curves, "places from the query, left to right", y_label)


def _steps(extent: int) -> Float[np.ndarray, " S"]:
    return np.arange(extent, dtype=np.float64) - extent // 2


def name_of_axis(axis: int, axes: int) -> str:
    """The name of a coordinate in the order time, height, width.

    >>> name_of_axis(0, 2), name_of_axis(0, 3), name_of_axis(0, 4)
    ('height', 'time', 'axis 0')
    """
    place = axis - axes + len(NAMES)
    return NAMES[place] if place >= 0 and axes <= len(NAMES) else f"axis {axis}"
