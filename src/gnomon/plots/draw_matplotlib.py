"""Figures as png or svg, by matplotlib. No window is opened and no global state is touched."""

import io
import math
import textwrap
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from gnomon.errors import GnomonError
from gnomon.plots import axes as cells
from gnomon.plots.figure import Figure, Heatmap, Lines
from gnomon.plots.palette import DASHES, LIGHT

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas
    from matplotlib.figure import SubFigure

WIDTH, HEIGHT, DPI = 6.4, 5.0, 150  #: inches of one panel; dots an inch of a png
TEXT, FAINT, GRID = "#1c1e21", "#5d636b", "#d9dce0"

# Text is never read as TeX: a tensor name may hold a dollar sign. A fixed salt makes equal figures equal files.
STYLE: Any = {"text.parse_math": False, "svg.hashsalt": "gnomon", "font.size": 9.5}


def draw_image(figures: Sequence[Figure], kind: Literal["png", "svg"]) -> bytes:
    """The figures as one image: one panel, or a grid of two columns.

    Raises GnomonError when matplotlib is not installed.
    """
    try:
        from matplotlib import rc_context
        from matplotlib.figure import Figure as Canvas
    except ImportError as error:
        raise GnomonError(f"A {kind} is drawn by matplotlib; install it with pip install 'gnomon[plots]'.") from error
    columns = min(len(figures), 2)
    rows = math.ceil(len(figures) / columns)
    with rc_context(STYLE):
        canvas = Canvas(figsize=(WIDTH * columns, HEIGHT * rows), layout="constrained", facecolor="white")
        canvas.get_layout_engine().set(h_pad=0.1, w_pad=0.1)  # type: ignore[union-attr, call-arg]
        panels: Any = canvas.subfigures(rows, columns, squeeze=False, hspace=0.04, wspace=0.02)
        for panel, figure in zip(panels.flat, figures, strict=False):
            _draw_panel(panel, figure)
        return _saved(canvas, kind)


def _saved(canvas: "Canvas", kind: Literal["png", "svg"]) -> bytes:
    stream = io.BytesIO()
    with warnings.catch_warnings():
        # A glyph that the font lacks is drawn as a box; that is no reason to write to the user's stderr.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        canvas.savefig(stream, format=kind, dpi=DPI, metadata={"Date": None} if kind == "svg" else None)
    return stream.getvalue()


def _draw_panel(panel: "SubFigure", figure: Figure) -> None:
    axes = panel.subplots()
    if isinstance(figure, Heatmap):
        _draw_heat_map(axes, figure)
    else:
        _draw_lines(axes, figure)
    axes.set_xlabel(figure.x_label, color=TEXT)
    axes.set_ylabel(figure.y_label, color=TEXT)
    axes.tick_params(colors=FAINT, length=3)
    panel.suptitle(textwrap.fill(figure.title, 60), fontsize=11.5, fontweight="bold", color=TEXT)
    if figure.note:
        panel.supxlabel(textwrap.fill(figure.note, 92), fontsize=8, color=FAINT)


def _draw_heat_map(axes: "Axes", figure: Heatmap) -> None:
    from matplotlib.colors import LinearSegmentedColormap

    # An odd number of colours has one in the middle, for zero.
    colors = LinearSegmentedColormap.from_list("gnomon", LIGHT.scale(centered=figure.centered), N=257)
    x, y = cells.edges(cells.columns(figure)), cells.edges(cells.rows(figure))
    low, high = cells.limits(figure)
    # Rasterised: as vectors, a table of 300 x 300 would be 90,000 rectangles.
    mesh = axes.pcolormesh(x, y, figure.values, cmap=colors, vmin=low, vmax=high, rasterized=True)
    _scale_axes(axes, log_x=cells.is_geometric(cells.columns(figure)), log_y=cells.is_geometric(cells.rows(figure)))
    axes.set_xlim(x[0], x[-1])
    axes.set_ylim(y[-1], y[0])
    ends: Literal["both", "neither"] = "both" if cells.has_values_beyond(figure) else "neither"
    bar = axes.figure.colorbar(mesh, ax=axes, pad=0.02, aspect=28, extend=ends)
    bar.set_label(figure.value_label, color=TEXT)
    bar.ax.tick_params(colors=FAINT, length=3)
    bar.outline.set_visible(False)  # type: ignore[operator]


def _draw_lines(axes: "Axes", figure: Lines) -> None:
    styles = {"solid": "-", "dash": "--", "dot": ":", "dashdot": "-."}
    for index, curve in figure.styled:
        color, dash = LIGHT.curves[index % len(LIGHT.curves)], styles[DASHES[index % len(DASHES)]]
        mark = "o" if curve.marked else None
        axes.plot(curve.x, curve.y, label=curve.name, color=color, linestyle=dash, linewidth=1.8, marker=mark)
        if curve.band is not None:
            axes.fill_between(curve.x, *curve.band, color=color, alpha=0.15, linewidth=0)
    x, y = [curve.x for curve in figure.curves], [curve.y for curve in figure.curves]
    log_x, log_y = figure.log_x and cells.positive_span(x), figure.log_y and cells.positive_span(y)
    _scale_axes(axes, log_x=bool(log_x), log_y=bool(log_y))
    if figure.x_ticks:
        axes.set_xticks(figure.x_ticks, [f"{tick:g}" for tick in figure.x_ticks])
    axes.grid(color=GRID, linewidth=0.7)
    axes.spines[["top", "right"]].set_visible(False)
    if len(figure.curves) > 1:
        axes.legend(frameon=False, labelcolor=TEXT)


def _scale_axes(axes: "Axes", *, log_x: bool, log_y: bool) -> None:
    from matplotlib.ticker import LogLocator, NullLocator, StrMethodFormatter

    for axis, log in ((axes.xaxis, log_x), (axes.yaxis, log_y)):
        if log:
            axes.set(**{f"{axis.axis_name}scale": "log"})
            axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
            axis.set_minor_locator(NullLocator())
            axis.set_major_formatter(StrMethodFormatter("{x:g}"))  # the default writes TeX
