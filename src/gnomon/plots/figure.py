"""A figure as plain numbers. `gnomon plot` and the HTML report draw the same ones."""

from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float

MOST_MARKS = 12


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
    """A line, and around it a band from `low` to `high` where both are given."""

    name: str
    x: Float[np.ndarray, " points"]
    y: Float[np.ndarray, " points"]
    low: Float[np.ndarray, " points"] | None = None
    high: Float[np.ndarray, " points"] | None = None
    style: int | None = None  #: which colour and dashes it has, counted from 0; None: those of its place in the figure

    @property
    def band(self) -> tuple[Float[np.ndarray, " points"], Float[np.ndarray, " points"]] | None:
        return None if self.low is None or self.high is None else (self.low, self.high)

    @property
    def marked(self) -> bool:
        """Whether each point gets a mark: one point alone would not be seen, and few with a band were measured."""
        return len(self.x) == 1 or (self.band is not None and len(self.x) <= MOST_MARKS)


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
    x_ticks: tuple[float, ...] = ()  #: where the x axis is labelled; empty: at round values

    @property
    def styled(self) -> list[tuple[int, Curve]]:
        """The curves, each with the number of its colour and dashes."""
        return [(place if c.style is None else c.style, c) for place, c in enumerate(self.curves)]


Figure = Heatmap | Lines
