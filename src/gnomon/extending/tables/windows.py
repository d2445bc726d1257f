"""A bias table of a window for another window: Swin, Liu et al. 2021, arXiv:2103.14030, BEiT, arXiv:2106.08254."""

import math
from typing import Literal, get_args

import numpy as np
import torch
from jaxtyping import Float, Float64
from torch import Tensor

from gnomon.errors import ShapeError
from gnomon.extending.tables.grids import Size, grid, require_kind, require_size
from gnomon.extending.tables.splines import spline_weights

WindowKind = Literal["geometric", "bicubic", "bilinear"]


def window(
    table: Float[Tensor, "old H"], source: Size, target: Size, *, prefix: int = 0, kind: WindowKind = "bicubic"
) -> Float[Tensor, "new H"]:
    """The biases of a window of `target` = (height, width) places from those of `source`; `prefix` rows stay behind.

    ((2 h - 1)(2 w - 1) + prefix, heads) -> ((2 H - 1)(2 W - 1) + prefix, heads), in the dtype of the table. "bicubic"
    resizes the image of offsets, as Swin's code does when it loads a checkpoint, and "bilinear" as transformers does in
    BEiT at run time: an offset then means the same share of the window. "geometric" is what BEiT's own fine-tuning and
    timm do: near offsets keep their biases, and the distances between the old ones grow outwards, so that an offset
    means the same number of places where most attention is. Raises ShapeError when the table has not these rows.

    >>> window(torch.zeros(15 + 3, 2), (2, 3), (4, 4), prefix=3).shape
    torch.Size([52, 2])
    """
    require_kind(kind, "A window", get_args(WindowKind))
    require_size(source)
    require_size(target)
    old, new = offsets(source), offsets(target)
    count = math.prod(old)
    if table.ndim != 2 or len(table) != count + prefix:
        raise ShapeError(
            f"A window of {source[0]} x {source[1]} places and {prefix} rows make a table of {count + prefix} rows, "
            f"got {tuple(table.shape)}."
        )
    if source == target:
        return table.clone()
    if kind == "geometric":
        image = table[:count].to(torch.float64).reshape(*old, -1)
        down, across = (_geometric(was, now, image.device) for was, now in zip(source, target, strict=True))
        rows = torch.einsum("yi,xj,ijh->yxh", down, across, image).reshape(math.prod(new), -1).to(table.dtype)
    else:
        rows = grid(table[:count], old, new, kind=kind)
    return torch.cat((rows, table[count:]))


def offsets(size: Size) -> Size:
    """How many offsets two places of a window can have along each axis."""
    return 2 * size[0] - 1, 2 * size[1] - 1


def _geometric(was: int, now: int, device: torch.device) -> Float64[Tensor, "new old"]:
    """Weights of the old offsets for each new one along an axis."""
    beyond = np.array(spread(was - 1, now - 1))
    knots = np.concatenate((-beyond[::-1], [0.0], beyond))
    places = np.arange(1 - now, now, dtype=np.float64)
    return torch.from_numpy(spline_weights(knots, places)).to(device)


def spread(count: int, reach: int) -> list[float]:
    """Distances 1, 1 + q, 1 + q + q^2, ... for `count` old offsets, of which the last lies at `reach`; q from 1 on.

    A single one stays at 1.

    >>> spread(2, 4)
    [1.0, 4.0]
    """
    if count < 2:
        return [1.0] * count
    low, high = 1.0, max(reach, 1) ** (1 / (count - 1))
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if sum(middle**power for power in range(count)) > reach else (middle, high)
    return [round(sum(low**power for power in range(upto)), 9) for upto in range(1, count + 1)]
