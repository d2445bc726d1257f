"""`gnomon plot`: the figures of one encoding as a picture or a page."""

import inspect
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gnomon.cli.output import require_writable, say_written
from gnomon.errors import GnomonError

if TYPE_CHECKING:
    from gnomon.encodings.base import PositionEncoding

NUM_HEADS, HEAD_DIM = 8, 64  #: the sizes that options not given are taken from


def plot(
    encoding: Annotated[str, typer.Argument(help="A name from `gnomon list encodings`.", show_default=False)],
    output: Annotated[Path, typer.Option("--output", "-o", help="FILE.png, FILE.svg or FILE.html.")],
    opt: Annotated[
        list[str] | None, typer.Option("--opt", metavar="KEY=VALUE", help="An option of the encoding; repeatable.")
    ] = None,
    length: Annotated[int, typer.Option(min=4, help="How many positions to draw.")] = 128,
) -> None:
    """Draw an encoding: values, waves, similarity, decay."""
    require_writable(output)
    from gnomon.plots import write_figures
    from gnomon.portraits import portrait

    figures = portrait(build_with_defaults(encoding, parse_options(opt or ())), length=length)
    write_figures(figures, output)
    say_written(output)


def parse_options(pairs: Sequence[str]) -> dict[str, Any]:
    """`key=value` words as a mapping; a value that is JSON (a number, true, an object) is read as such.

    >>> parse_options(["head_dim=64", "layout=half"])
    {'head_dim': 64, 'layout': 'half'}
    """
    options: dict[str, Any] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not key or not equals:
            raise GnomonError(f"An option is KEY=VALUE, as in --opt head_dim=64; got {pair!r}.")
        try:
            options[key] = json.loads(value)
        except json.JSONDecodeError:
            options[key] = value
    return options


def build_with_defaults(name: str, options: dict[str, Any]) -> "PositionEncoding":
    """Build an encoding; sizes that it needs and that were not given are those of a model with 8 heads of width 64."""
    from gnomon.encodings.base import build, registry

    cls = registry.get(name)
    sizes = cls.sample(NUM_HEADS, HEAD_DIM).options
    needed = [key for key, p in inspect.signature(cls).parameters.items() if p.default is p.empty]
    try:
        return build(name, **{key: sizes[key] for key in needed if key in sizes} | options)
    except TypeError as error:
        raise GnomonError(f"An option of {name!r} has a value of the wrong kind: {error}.") from error
