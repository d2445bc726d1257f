"""A figure as plain numbers. `gnomon plot` and the HTML report draw the same ones."""

from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float


@dataclass(frozen=True)
class Heatmap:
    """A matrix as colours: rows downwards, columns to the right. `centered` puts the middle colour on zero."""

    title: str
    values: Float[np.ndarray, "rows columns"]
    x_label: str
    y_label: str
    value_label: str = "value"
    centered: bool = True
    note: str = ""  #: one sentence that says how to read it
    x: Float[np.ndarray, " columns"] | None = None  #: where columns stand; None: 0, 1, 2, ...
    y: Float[np.ndarray, " rows"] | None = None
    limit: float | None = None  #: of a centred map: colours end at -limit and limit; None: at the largest value


@dataclass(frozen=True)
class Curve:
    name: str
    x: Float[np.ndarray, " points"]
    y: Float[np.ndarray, " points"]


@dataclass(frozen=True)
class Lines:
    """Curves over one axis."""

    title: str
    curves: tuple[Curve, ...] = field(default_factory=tuple)
    x_label: str = ""
    y_label: str = ""
    log_x: bool = False
    log_y: bool = False
    note: str = ""


Figure = Heatmap | Lines
