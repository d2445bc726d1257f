"""One self-contained page: styles, scripts and figures inside it, and a policy that forbids it the network.

The policy names the scripts by their hash, so that nothing else runs, even if a hostile name got past the escaping.
"""

import base64
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from gnomon.plots.draw_plotly import plotly_source, to_plotly
from gnomon.plots.figure import Figure
from gnomon.plots.palette import DARK, LIGHT

FOLDER = Path(__file__).parent / "page"


def render_page(
    template: Path, figures: Sequence[Figure], context: Mapping[str, Any], *, sheets: Sequence[Path] = ()
) -> str:
    """Fill the template, with the style sheet and the script of the same name that lie beside it, and other `sheets`.

    plotly.js is inlined once, and only when there is a figure. Raises GnomonError when it is needed and not installed.
    """
    every_sheet = [FOLDER / "base.css", *sheets, template.with_suffix(".css")]
    own_script = template.with_suffix(".js")
    scripts = [plotly_source(), _read(FOLDER / "figures.js")] if figures else []
    scripts += [_read(own_script)] if own_script.exists() else []
    return (
        _environment(template.parent)
        .get_template(template.name)
        .render(
            **context,
            figures=figures,
            figure_data=json_in_html(_payload(figures)),
            style=Markup("\n".join(_read(sheet) for sheet in every_sheet if sheet.exists())),
            scripts=[Markup(script) for script in scripts],
            policy=_policy(scripts),
        )
    )


def figures_page(figures: Sequence[Figure]) -> str:
    """A page with nothing but figures, as `gnomon plot -o FILE.html` writes it."""
    return render_page(FOLDER / "plots.html", figures, {"page_title": figures[0].title})


def _environment(folder: Path) -> Environment:
    loader = FileSystemLoader([folder, FOLDER])
    page = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    page.filters["breakable"] = _breakable
    return page


def _breakable(text: str) -> Markup:
    """Text that may be broken after the separators of a path or a dotted name."""
    return Markup(re.sub(r"([/._\\])(?=\w)", r"\1<wbr>", str(escape(text))))


def _payload(figures: Sequence[Figure]) -> dict[str, Any]:
    drawn = [json.loads(to_plotly(figure).to_json()) for figure in figures]
    for figure in drawn:
        del figure["layout"]["title"]  # the page sets it as text that wraps
    return {"figures": drawn, "palettes": {"light": asdict(LIGHT), "dark": asdict(DARK)}}


def json_in_html(value: Any) -> Markup:
    """JSON that cannot close its script element, whatever the strings in it say.

    >>> json_in_html("</script>")
    Markup('"\\\\u003c/script\\\\u003e"')
    """
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


def _policy(scripts: Sequence[str]) -> str:
    hashes = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts)
    allowed = " ".join(f"'sha256-{digest}'" for digest in hashes) or "'none'"
    inline = "style-src 'unsafe-inline'; img-src data: blob:"
    return f"default-src 'none'; script-src {allowed}; {inline}; base-uri 'none'; form-action 'none'"


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")
