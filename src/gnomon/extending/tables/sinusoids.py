"""Tables that hold a fixed formula: they are written anew from it, never interpolated."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, final

import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.doctor.evidence.sinusoid import fit_sinusoid
from gnomon.encodings.sinusoidal import Sinusoidal
from gnomon.encodings.sinusoidal_grid import SinusoidalGrid
from gnomon.extending.tables.grids import Size

#: Differences, relative to the largest number of a table, that the rounding of its numbers explains, ...
ROUNDINGS: Final = {torch.float64: 1e-5, torch.float32: 1e-5, torch.float16: 1e-3, torch.bfloat16: 8e-3}
BY_ROW: Final = 5e-7  #: ... and for each row that of frequencies and angles in float32, as several libraries take them
FEW: Final = 8  #: rows that a formula is read from at least
MANY: Final = 512  #: and at most
USUAL: Final = ({"layout": "interleaved"}, {"layout": "half"}, {"layout": "half", "exponent": "endpoint"})


@final
@dataclass(frozen=True)
class Formula:
    """Row r is `scale` times the sinusoid of position r + `start`; row `blank` is zeros."""

    encoding: Sinusoidal
    start: int = 0
    scale: float = 1.0
    blank: int | None = None

    def rows(self, count: int) -> Float[Tensor, "count W"]:
        """The first rows, in float64."""
        places = torch.arange(self.start, self.start + count)
        table = self.encoding.table(places, dtype=torch.float64) * self.scale
        if self.blank is not None:
            table[self.blank] = 0.0
        return table

    def continued(self, table: Float[Tensor, "old W"], to: int) -> Float[Tensor, "new W"]:
        """The rows that are there, and after them those of the formula, in the dtype of the table."""
        return torch.cat((table, self.rows(to)[len(table) :].to(table)))


def formula_of(
    table: Float[Tensor, "rows W"], *, options: Mapping[str, Any] | None = None, padding_row: int | None = None
) -> Formula | None:
    """The formula that every row of the table follows, or None when the table is learned.

    `options` are those of Sinusoidal that the family's code has; when they do not fit, the usual ones are tried, and
    what the numbers tell. A `padding_row` may be zeros.

    >>> formula_of(Sinusoidal(16).table(torch.arange(20))).rows(100).shape
    torch.Size([100, 16])
    >>> formula_of(torch.arange(320.0).reshape(20, 16)) is None
    True
    """
    rows, width = table.shape
    if rows < FEW or width < 4 or table.dtype not in ROUNDINGS:
        return None
    blank = padding_row if padding_row is not None and padding_row < rows and not table[padding_row].any() else None
    tried = [Formula(Sinusoidal(width, **chosen), blank=blank) for chosen in (*([options] if options else ()), *USUAL)]
    tried += _fitted(table, blank)
    return next((formula for formula in tried if _same(table, formula.rows(rows))), None)


def grid_formula_of(table: Float[Tensor, "rows W"], source: Size, prefix: int) -> SinusoidalGrid | None:
    """The sinusoids of a grid that the patches of this table hold (MAE, MoCo v3), or None when they are learned."""
    width = table.shape[1]
    if width < 4 or table.dtype not in ROUNDINGS:
        return None
    tried = [SinusoidalGrid(width, order=order) for order in ((1, 0), (0, 1))]
    return next((formula for formula in tried if _same(table[prefix:], grid_rows(formula, source))), None)


def grid_rows(formula: SinusoidalGrid, size: Size) -> Float[Tensor, "patches W"]:
    """The vectors of all patches, row by row, in float64."""
    places = torch.cartesian_prod(torch.arange(size[0]), torch.arange(size[1]))
    return formula.table(places, dtype=torch.float64)


def _fitted(table: Float[Tensor, "rows W"], blank: int | None) -> list[Formula]:
    """The formula that the numbers tell, where Sinusoidal has it."""
    found = fit_sinusoid(table[:MANY].double().numpy())
    if found is None or found.sine_sign < 0 or found.order != "sine first" or found.shift not in range(FEW):
        return []
    encoding = Sinusoidal(table.shape[1], layout=found.layout, base=found.base, exponent=found.exponent)
    return [Formula(encoding, int(found.shift), scale, blank) for scale in (1.0, found.scale)]


def _same(table: Float[Tensor, "rows W"], made: Float[Tensor, "rows W"]) -> bool:
    limits = ROUNDINGS[table.dtype] + BY_ROW * torch.arange(len(table))
    return bool(((table.double() - made).abs().amax(dim=1) <= limits * made.abs().max()).all())
