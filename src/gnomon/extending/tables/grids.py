"""A table of image patches for another grid: the vectors of one image, resized as an image is.

Dosovitskiy et al. 2021, arXiv:2010.11929, section 3.2. Cubic convolution: Keys 1981. PyTorch's bicubic has a = -3/4
without antialiasing and a = -1/2 with it.
"""

import math
from collections.abc import Sequence
from typing import Literal, get_args

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import interpolate

from gnomon.errors import GnomonError, ShapeError

Size = tuple[int, int]
GridKind = Literal["bicubic", "bicubic-antialias", "bilinear"]


def grid(
    table: Float[Tensor, "old W"], source: Size, target: Size, *, prefix: int = 0, kind: GridKind = "bicubic"
) -> Float[Tensor, "new W"]:
    """The table of `target` = (height, width) patches from that of `source`, row by row; `prefix` rows stay in front.

    (prefix + h w, W) -> (prefix + H W, W), in the dtype of the table, worked out in float64. Patches are areas: centres
    fall on centres (align_corners=False), and the sizes themselves are given, never a factor that would be rounded.
    "bicubic" is what transformers does at run time in ViT, DeiT, DINOv2, CLIP and BEiT, "bicubic-antialias" what it
    does in DINOv2 with registers and timm by default. Raises ShapeError when the table has not these rows.

    >>> table = torch.arange(6.0)[:, None]  # 2 x 3 patches
    >>> grid(table, (2, 3), (2, 6), kind="bilinear").reshape(2, 6)
    tensor([[0.0000, 0.2500, 0.7500, 1.2500, 1.7500, 2.0000],
            [3.0000, 3.2500, 3.7500, 4.2500, 4.7500, 5.0000]])
    """
    require_kind(kind, "A grid", get_args(GridKind))
    require_size(source)
    require_size(target)
    if table.ndim != 2 or len(table) != prefix + math.prod(source):
        raise ShapeError(
            f"{prefix} rows and a grid of {source[0]} x {source[1]} patches make a table of "
            f"{prefix + math.prod(source)} rows, got {tuple(table.shape)}."
        )
    if source == target:
        return table.clone()
    image = table[prefix:].to(torch.float64).T.reshape(1, -1, *source)
    mode, antialias = kind.removesuffix("-antialias"), kind.endswith("-antialias")
    made = interpolate(image, size=target, mode=mode, align_corners=False, antialias=antialias)
    return torch.cat((table[:prefix], made[0].flatten(1).T.to(table.dtype)))


def require_kind(kind: str, what: str, known: Sequence[str]) -> None:
    """Raises GnomonError when this is no way to resize `what`."""
    if kind not in known:
        raise GnomonError(f"{what} is resized by one of {', '.join(known)}, got kind={kind!r}.")


def require_size(size: Sequence[int]) -> None:
    """Raises GnomonError when this is no (height, width)."""
    if len(size) != 2 or any(type(side) is not int or side < 1 for side in size):
        raise GnomonError(f"A grid is HEIGHTxWIDTH in whole numbers from 1, got {'x'.join(map(str, size))}.")


def reference(row: int, column: int, image: Sequence[Sequence[float]], target: Size, *, a: float = -0.75) -> float:
    """Keys 1981, equation 3 with his kernel for any a, along both axes: one number of the image of `target` size.

    Pixel y of the new image has its centre at (y + 1/2) h / H - 1/2 of the old one; beyond the border it repeats.
    """
    down, across = len(image), len(image[0])
    y, x = (row + 0.5) * down / target[0] - 0.5, (column + 0.5) * across / target[1] - 0.5
    top, left = math.floor(y), math.floor(x)
    return sum(
        image[min(max(i, 0), down - 1)][min(max(j, 0), across - 1)] * _kernel(y - i, a) * _kernel(x - j, a)
        for i in range(top - 1, top + 3)
        for j in range(left - 1, left + 3)
    )


def _kernel(distance: float, a: float) -> float:
    s = abs(distance)
    if s <= 1:
        return (a + 2) * s**3 - (a + 3) * s**2 + 1
    return a * s**3 - 5 * a * s**2 + 8 * a * s - 4 * a if s < 2 else 0.0
