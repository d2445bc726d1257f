"""What a user can ask of tables: the way, and what the way leaves open."""

from dataclasses import dataclass
from typing import Final, Literal, final

from gnomon.errors import GnomonError
from gnomon.extending.tables.hierarchy import ALPHA, decomposing
from gnomon.extending.tables.interpolating import stretching
from gnomon.extending.tables.keeping import keeping
from gnomon.extending.tables.stencil import Stencil
from gnomon.extending.tables.tiling import repeating

AUTO, INTERPOLATE, TILE, KEEP, HIERARCHY = "auto", "interpolate", "tile", "keep-first", "hierarchical"
METHODS: Final = (AUTO, INTERPOLATE, TILE, KEEP, HIERARCHY)
KEPT: Final = 4  #: keep-first keeps one position in so many when it is not told: Long-CLIP has 20 of 77


@final
@dataclass(frozen=True)
class Options:
    """`kind`: how to interpolate; "auto" is linear for lines, and for grids and windows what their family does.

    `keep`: positions that keep-first leaves alone; None is a quarter of them. `alpha`: the share of the first digit in
    the hierarchical way; None is 0.4, as its author has it. `part`: of a model with two stacks of different lengths,
    the one to extend (its decoder if None).
    """

    kind: str = AUTO
    keep: int | None = None
    alpha: float | None = None
    part: Literal["encoder", "decoder"] | None = None


def line_stencil(method: str, old: int, new: int, options: Options) -> Stencil:
    """How the rows of a line of positions follow from the old ones; raises GnomonError for what cannot be.

    "auto" repeats the table. All-MiniLM-L6-v2, untrained at 2,048 positions, then gives inputs up to 512 the vectors
    it gave, and long documents vectors nearly as close to those of their parts as interpolation does, which spoils
    short inputs.
    """
    kind = "linear" if options.kind == AUTO else options.kind
    if type(new) is not int or new <= old:
        raise GnomonError(f"The model has {old:,} positions already; tables only become longer, got to={new}.")
    if method in (AUTO, TILE):
        return repeating(old, new)
    if method == KEEP:
        return keeping(old, new, kept(old, options), kind)
    if method == INTERPOLATE:
        return stretching(old, new, kind)
    return decomposing(old, new, first_digit(options))


def first_digit(options: Options) -> float:
    """The share of the first digit."""
    return ALPHA if options.alpha is None else options.alpha


def kept(old: int, options: Options) -> int:
    """How many positions keep-first leaves alone."""
    return old // KEPT if options.keep is None else options.keep
