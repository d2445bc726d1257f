"""`gnomon plot`: the figures of one encoding as a picture or a page."""

import inspect
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from gnomon.cli.output import require_writable, say_written
from gnomon.errors import GnomonError

if TYPE_CHECKING:
    from gnomon.encodings.base import PositionEncoding

NUM_HEADS, HEAD_DIM = 8, 64  #: the sizes that options not given are taken from
WORDS: Mapping[Any, str] = {int: "a whole number", float: "a number", bool: "true or false", str: "a word"}


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

    built = build_with_defaults(encoding, parse_options(opt or ()))
    title = f"{encoding}, untrained" if built.learned else encoding
    write_figures(portrait(built, length=length, title=title), output)
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
        except RecursionError:
            raise GnomonError(f"The value of --opt {key} is nested too deeply.") from None
        except ValueError:  # no JSON, or more digits than Python reads as a number
            options[key] = value
    return options


def build_with_defaults(name: str, options: dict[str, Any]) -> "PositionEncoding":
    """Build an encoding; sizes that it needs and that were not given are those of a model with 8 heads of width 64."""
    from gnomon.encodings.base import check_options, registry

    cls = registry.get(name)
    sizes = cls.sample(NUM_HEADS, HEAD_DIM).options
    needed = {key for key, p in inspect.signature(cls).parameters.items() if p.default is p.empty}
    given = {key: sizes[key] for key in needed if key in sizes} | options
    check_options(cls, name, given)
    _check_kinds(cls, name, options)
    try:
        return _built(cls, given, sizes | options)
    except (TypeError, AttributeError) as error:
        raise GnomonError(f"An option of {name!r} has a value of the wrong kind: {error}.") from error


def _built(cls: type["PositionEncoding"], given: dict[str, Any], whole: dict[str, Any]) -> "PositionEncoding":
    """From what was given, or from all options of the sample where the defaults suit other sizes (M-RoPE's do)."""
    try:
        return cls(**given)
    except GnomonError as first:
        try:
            return cls(**whole)
        except (GnomonError, TypeError, AttributeError):
            raise first from None


def _check_kinds(cls: type, name: str, options: Mapping[str, Any]) -> None:
    """Raise for a plain value where the constructor wants another; what is nested the encoding checks for itself."""
    for key, parameter in inspect.signature(cls).parameters.items():
        union = isinstance(parameter.annotation, UnionType)
        kinds = get_args(parameter.annotation) if union else (parameter.annotation,)
        if key not in options or not all(kind in WORDS or kind is type(None) for kind in kinds):
            continue
        value = options[key]
        if type(value) not in kinds and not (type(value) is int and float in kinds) and value is not None:
            wanted = " or ".join(WORDS[kind] for kind in kinds if kind in WORDS)
            raise GnomonError(f"The option {key} of {name!r} is {wanted}; got {json.dumps(value)[:60]}.")
