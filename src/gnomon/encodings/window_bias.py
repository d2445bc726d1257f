"""Bias tables of windows: Swin, Liu et al. 2021, arXiv:2103.14030, and BEiT, Bao et al. 2021, arXiv:2106.08254."""

import itertools
from collections.abc import Sequence
from typing import Any, Final, final

import torch
from jaxtyping import Float32
from torch import Tensor, nn
from torch.nn.functional import interpolate

from gnomon.encodings.base import registry
from gnomon.encodings.score_bias import WindowedBias
from gnomon.errors import GnomonError

INIT_STD: Final = 0.02  #: the spread of a fresh table in Swin; BEiT starts at zero
PREFIX_ROWS: Final = 3


@registry.register("window_bias")
@final
class WindowBias(WindowedBias):
    """A learned number for each head and each offset of two places in a window of (height, width).

    `weight` is ((2 height - 1)(2 width - 1), num_heads), the `relative_position_bias_table` of Swin: the row of a query
    and a key is (dy + height - 1)(2 width - 1) + dx + width - 1 with (dy, dx) = query - key. With `prefix` three more
    rows follow, as in BEiT: for a class token as query and a patch as key, the other way round, and for two class
    tokens. A token without a place has the coordinate -1 on all axes; however many there are, they share these rows,
    and without `prefix` they get 0. Swin has a table in each layer and cuts the image into windows before attention;
    BEiT has one window, the image, and a table in each layer or one for all. More axes work as well, as in Video Swin
    (arXiv:2106.13230): (time, height, width).

    Coordinates outside the window raise PositionError. Under torch.compile and on the meta device the values cannot be
    read, so there nothing is checked.

    >>> encoding = WindowBias(num_heads=2, window=(3, 5), prefix=True)
    >>> encoding.weight.shape
    torch.Size([48, 2])
    >>> encoding.bias(torch.tensor([[[2, 4]]]), torch.tensor([[[-1, -1], [0, 0], [2, 4]]])).shape
    torch.Size([1, 2, 1, 3])
    """

    learned: bool = True

    def __init__(self, num_heads: int, *, window: Sequence[int] = (7, 7), prefix: bool = False) -> None:
        super().__init__(num_heads, window)
        self.prefix = prefix
        self.weight = nn.Parameter(torch.empty(self.offsets + (PREFIX_ROWS if prefix else 0), num_heads))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the table anew from torch's default generator."""
        nn.init.trunc_normal_(self.weight, std=INIT_STD)

    def table(self) -> Float32[Tensor, "H columns"]:
        rows = self.weight.float()
        if not self.prefix:
            rows = torch.cat((rows, rows.new_zeros(PREFIX_ROWS, self.num_heads)))
        return rows.T

    def resized(self, window: Sequence[int]) -> "WindowBias":
        """The bias for a window of another size of two axes: its table stretched bilinearly, the prefix rows as is.

        That is how transformers runs BEiT on other image sizes. The result is a copy with parameters of its own.

        >>> WindowBias(num_heads=2, window=(3, 5)).resized((4, 4)).weight.shape
        torch.Size([49, 2])
        """
        other = WindowBias(self.num_heads, window=window, prefix=self.prefix).to(self.weight)
        if self.axes != 2 or other.axes != 2:
            raise GnomonError(f"Only windows of two axes can be resized, got {self.grid} and {other.grid}.")
        old, new = (tuple(2 * extent - 1 for extent in grid) for grid in (self.grid, other.grid))
        with torch.no_grad():
            image = self.weight[: self.offsets].float().T.reshape(1, self.num_heads, *old)
            rows = interpolate(image, size=new, mode="bilinear").reshape(self.num_heads, -1).T
            other.weight.copy_(torch.cat((rows, self.weight[self.offsets :].float())))
        return other

    @property
    def heads_along(self) -> dict[str, int] | None:
        return {"weight": 1}

    @property
    def options(self) -> dict[str, Any]:
        return {"num_heads": self.num_heads, "window": list(self.grid), "prefix": self.prefix}


def reference(
    head: int, query: Sequence[int], key: Sequence[int], *, table: list[list[float]], window: Sequence[int]
) -> float:
    """Swin, section 3.2: B taken from the table of offsets, whose rows are counted one by one; BEiT's three follow."""
    offsets = list(itertools.product(*(range(1 - extent, extent) for extent in window)))
    outside = [all(place == -1 for place in position) for position in (query, key)]
    if any(outside):
        row = len(offsets) + {(True, False): 0, (False, True): 1, (True, True): 2}[outside[0], outside[1]]
        return table[row][head] if row < len(table) else 0.0
    return table[offsets.index(tuple(i - j for i, j in zip(query, key, strict=True)))][head]
