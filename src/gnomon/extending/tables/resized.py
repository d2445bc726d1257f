"""What becomes of one stored tensor, and of the optimizer's moments of it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import final, get_args

from torch import Tensor

from gnomon.extending.tables.grids import GridKind, Size, grid, require_kind
from gnomon.extending.tables.stencil import Stencil
from gnomon.extending.tables.windows import WindowKind, window

Make = Callable[[Tensor], Tensor]


@final
@dataclass(frozen=True)
class Resized:
    """The new shape of a tensor, and how its values follow from the old ones.

    `moments` does the same for an average of gradients: by the same sums, which are linear. `squares` does it for an
    average of their squares, which must stay above zero: the same rows count with the sizes of their weights as shares
    of 1 (images of biases and patches: bilinearly, whose weights are such shares). None: no moments are known.
    """

    shape: tuple[int, ...]
    values: Make
    moments: Make | None = None
    squares: Make | None = None


def line(shape: tuple[int, ...], stencil: Stencil) -> Resized:
    """A table (..., rows, W) whose rows are summed."""

    def by(sums: Stencil) -> Make:
        return lambda table: sums.rows(table.reshape(shape[-2:])).reshape(new)

    new = (*shape[:-2], len(stencil.sources), shape[-1])
    return Resized(new, by(stencil), by(stencil), by(stencil.averages()))


def patches(shape: tuple[int, ...], source: Size, target: Size, prefix: int, kind: str) -> Resized:
    """A table (..., prefix + patches, W); raises GnomonError for a kind that grids have not."""
    require_kind(kind, "A grid", get_args(GridKind))

    def by(how: str) -> Make:
        return lambda table: grid(table.reshape(shape[-2:]), source, target, prefix=prefix, kind=how).reshape(new)  # type: ignore[arg-type]

    new = (*shape[:-2], prefix + target[0] * target[1], shape[-1])
    return Resized(new, by(kind), by(kind), by("bilinear"))


def biases(shape: tuple[int, ...], source: Size, target: Size, prefix: int, kind: str) -> Resized:
    """A table (offsets + prefix, heads); raises GnomonError for a kind that windows have not."""
    require_kind(kind, "A window", get_args(WindowKind))

    def by(how: str) -> Make:
        return lambda table: window(table, source, target, prefix=prefix, kind=how)  # type: ignore[arg-type]

    new = ((2 * target[0] - 1) * (2 * target[1] - 1) + prefix, shape[1])
    return Resized(new, by(kind), by(kind), by("bilinear"))
