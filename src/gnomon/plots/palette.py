"""Colours that a colour-blind reader can tell apart, for light and for dark pages.

Signed values run from blue over the page's own tone to orange: the two hues stay apart under protanopia, deuteranopia
and tritanopia, and lightness alone gives the size. Unsigned values use cividis (Nunez, Anderton and Renslow 2018,
doi:10.1371/journal.pone.0199239). Curves follow Okabe and Ito, adjusted for contrast, and differ in dash too.
"""

from dataclasses import dataclass
from typing import Literal

Scale = tuple[str, ...]  #: colours at even steps from the lowest value to the highest


@dataclass(frozen=True)
class Palette:
    """The colours of one kind of page."""

    diverging: Scale
    sequential: Scale
    curves: Scale

    def scale(self, *, centered: bool) -> Scale:
        return self.diverging if centered else self.sequential


_CIVIDIS = ("#00224e", "#213b6e", "#4c556c", "#6c6e72", "#8e8978", "#b1a570", "#d9c55c", "#fee838")

LIGHT = Palette(
    diverging=("#08306b", "#1f5fa8", "#6aa5d8", "#bcd7ec", "#f5f4f0", "#f6cfa4", "#e08f3f", "#b5560f", "#6f2a02"),
    sequential=_CIVIDIS,
    curves=("#0067a3", "#c24e00", "#00745a", "#a3437f", "#7a6200", "#55585e"),
)
DARK = Palette(
    diverging=("#b5dcff", "#6cb0f2", "#2f78bd", "#1d436b", "#1b1e24", "#5f3513", "#b0641c", "#ee9a48", "#ffd9ab"),
    sequential=_CIVIDIS,
    curves=("#62b6ee", "#ff9d57", "#44cfa2", "#e79ac8", "#dcc050", "#b8bcc4"),
)
DASHES: tuple[Literal["solid", "dash", "dot", "dashdot"], ...] = ("solid", "dash", "dot", "dashdot")
