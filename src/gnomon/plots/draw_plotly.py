"""Figures as plotly figures, for a page or a notebook."""

import html
from collections.abc import Sequence
from typing import Any

import numpy as np

from gnomon.errors import GnomonError
from gnomon.plots import axes as cells
from gnomon.plots.figure import Curve, Figure, Heatmap, Lines
from gnomon.plots.palette import DASHES, LIGHT, Scale

BAND_ALPHA = "2b"  #: of 255, as two hexadecimal digits after a colour; figures.js has the same
NEEDS_PLOTLY = "A page with figures is drawn by plotly; install it with pip install 'gnomon[plots]'."


def to_plotly(figure: Figure) -> Any:
    """The figure as a `plotly.graph_objects.Figure` in light colours.

    `layout.meta` tells a page that changes colours which scale a heat map has: "diverging" or "sequential".
    Raises GnomonError when plotly is not installed.
    """
    try:
        import plotly.graph_objects as go
    except ImportError as error:
        raise GnomonError(NEEDS_PLOTLY) from error
    traces = [_heat_map(figure)] if isinstance(figure, Heatmap) else _curves(figure)
    return go.Figure(data=traces, layout=_layout(figure))


def plotly_source() -> str:
    """plotly.js itself, to be put into a page. Raises GnomonError when plotly is not installed."""
    try:
        from plotly.offline import get_plotlyjs
    except ImportError as error:
        raise GnomonError(NEEDS_PLOTLY) from error
    source: str = get_plotlyjs()
    return source


def _heat_map(figure: Heatmap) -> dict[str, Any]:
    low, high = cells.limits(figure)
    names = (_literal(figure.x_label), _literal(figure.y_label), _literal(figure.value_label))
    return {
        "type": "heatmap",
        "x": cells.columns(figure).astype("float32"),
        "y": cells.rows(figure).astype("float32"),
        "z": figure.values.astype("float32"),
        "zmin": low,
        "zmax": high,
        "colorscale": _stops(LIGHT.scale(centered=figure.centered)),
        "hoverongaps": False,
        "hovertemplate": "{} %{{x:.6~g}}<br>{} %{{y:.6~g}}<br>{} %{{z:.4~g}}<extra></extra>".format(*names),
        "colorbar": {"title": {"text": names[2], "side": "top"}, "thickness": 12, "outlinewidth": 0, "ticklen": 3},
    }


def _curves(figure: Lines) -> list[dict[str, Any]]:
    """Bands first, so that lines lie above them. `meta` is the number of the curve, for a page that changes colours."""
    bands = [_band(curve, index) for index, curve in figure.styled if curve.band is not None]
    return bands + [_line(curve, index) for index, curve in figure.styled]


def _line(curve: Curve, index: int) -> dict[str, Any]:
    trace = {
        "type": "scatter",
        "mode": "lines+markers" if curve.marked else "lines",
        "name": _literal(curve.name),
        "x": curve.x.astype("float32"),
        "y": curve.y.astype("float32"),
        "line": {"color": LIGHT.curves[index % len(LIGHT.curves)], "dash": DASHES[index % len(DASHES)], "width": 2},
        "legendgroup": str(index),
        "meta": index,
    }
    if curve.band is None:
        return trace
    ends = np.stack(curve.band, axis=-1).astype("float32")
    read = "%{y:.4~g} (%{customdata[0]:.4~g} to %{customdata[1]:.4~g})"
    return trace | {"customdata": ends, "hovertemplate": read}


def _band(curve: Curve, index: int) -> dict[str, Any]:
    """The band as one area: along its upper edge, and back along the lower one."""
    low, high = curve.band or (curve.y, curve.y)
    return {
        "type": "scatter",
        "mode": "lines",
        "x": np.concatenate([curve.x, curve.x[::-1]]).astype("float32"),
        "y": np.concatenate([high, low[::-1]]).astype("float32"),
        "fill": "toself",
        "fillcolor": LIGHT.curves[index % len(LIGHT.curves)] + BAND_ALPHA,
        "line": {"width": 0},
        "hoverinfo": "skip",
        "showlegend": False,
        "legendgroup": str(index),
        "meta": index,
    }


def _layout(figure: Figure) -> dict[str, Any]:
    layout = {
        "title": {"text": _literal(figure.title)},
        "template": {},
        "margin": {"l": 8, "r": 8, "t": 12, "b": 8},
    }
    if isinstance(figure, Heatmap):
        x, y = cells.columns(figure), cells.rows(figure)
        downwards = {"autorange": "reversed" if y[0] <= y[-1] else True}
        return layout | {
            "xaxis": _axis(figure.x_label, [x], log=cells.is_geometric(x)),
            "yaxis": _axis(figure.y_label, [y], log=cells.is_geometric(y)) | downwards,
            "hovermode": "closest",
            "meta": "diverging" if figure.centered else "sequential",
        }
    return layout | {
        "xaxis": _axis(figure.x_label, [curve.x for curve in figure.curves], log=figure.log_x) | _ticks(figure.x_ticks),
        "yaxis": _axis(figure.y_label, [curve.y for curve in figure.curves], log=figure.log_y),
        "hovermode": "x unified",
        "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        "showlegend": len(figure.curves) > 1,
    }


def _axis(label: str, values: Sequence[cells.Values], *, log: bool) -> dict[str, Any]:
    axis = {
        "title": {"text": _literal(label), "standoff": 8},
        "automargin": True,
        "zeroline": False,
        "ticks": "outside",
    }
    span = cells.positive_span(values)
    if not log or span is None:
        return axis | {"type": "linear"}
    ticks = cells.round_values(*span)
    return axis | {"type": "log", "tickvals": ticks, "ticktext": [f"{tick:g}" for tick in ticks]}


def _ticks(places: Sequence[float]) -> dict[str, Any]:
    return {"tickvals": list(places), "ticktext": [f"{place:g}" for place in places]} if places else {}


def _stops(scale: Scale) -> list[list[Any]]:
    return [[index / (len(scale) - 1), color] for index, color in enumerate(scale)]


def _literal(text: str) -> str:
    """Text that plotly shows as it stands: it would read tags and %{...} in a tensor's name."""
    return html.escape(text, quote=False).replace("%{", "%&#123;")
