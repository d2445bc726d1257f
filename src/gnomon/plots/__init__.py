"""Figures from plain arrays: made by `portraits` and `spectra`, written as png, svg or html."""

import os
from collections.abc import Sequence
from pathlib import Path

from gnomon.errors import GnomonError
from gnomon.plots.figure import Curve, Figure, Heatmap, Lines
from gnomon.plots.files import check_writable, write_whole
from gnomon.plots.portraits import decay, heat_map, similarity
from gnomon.plots.spectra import compared_wavelengths, spectrum, wavelengths

__all__ = [
    "Curve",
    "Figure",
    "Heatmap",
    "Lines",
    "compared_wavelengths",
    "decay",
    "heat_map",
    "similarity",
    "spectrum",
    "wavelengths",
    "write_figures",
]


def write_figures(figures: Figure | Sequence[Figure], path: str | os.PathLike[str]) -> None:
    """Draw figures into one file: png or svg (a grid of panels) or html (one page that needs no network).

    The file is written whole or not at all. Raises GnomonError for another suffix, a missing folder, no figures, or a
    drawing library that is not installed (`pip install 'gnomon[plots]'`).
    """
    several = [figures] if isinstance(figures, Heatmap | Lines) else list(figures)
    kind = Path(path).suffix.lower().removeprefix(".")
    if not several:
        raise GnomonError("There is no figure to draw; give at least one.")
    check_writable(path)
    if kind in ("png", "svg"):
        from gnomon.plots.draw_matplotlib import draw_image

        content = draw_image(several, "png" if kind == "png" else "svg")
    elif kind == "html":
        from gnomon.plots.webpage import figures_page

        content = figures_page(several).encode(errors="backslashreplace")
    else:
        raise GnomonError(f"Cannot draw into {os.fspath(path)!r}; end the file name with .png, .svg or .html.")
    write_whole(path, content)
