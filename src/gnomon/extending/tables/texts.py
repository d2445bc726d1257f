"""Longer lines of positions: the learned tables of text models, and the fixed ones that they store."""

from collections.abc import Iterator, Mapping
from typing import Any

from torch import Tensor

from gnomon.adapters.families.config_reader import LENGTH, ConfigReader, inner
from gnomon.adapters.tensors import TensorInfo, TensorSource
from gnomon.errors import GnomonError
from gnomon.extending.tables.buffers import grown
from gnomon.extending.tables.found import Line, lines, model_claims
from gnomon.extending.tables.options import (
    AUTO,
    HIERARCHY,
    INTERPOLATE,
    KEEP,
    METHODS,
    TILE,
    Options,
    first_digit,
    kept,
    line_stencil,
)
from gnomon.extending.tables.part import Part
from gnomon.extending.tables.resized import Resized, line
from gnomon.extending.tables.sinusoids import Formula, formula_of


def text_parts(
    source: TensorSource, config: Mapping[str, Any], to: int, method: str, options: Options
) -> Iterator[Part]:
    """A part for each table of text positions; none when the model has no such table."""
    for found in _asked(lines(source, config), options):
        if to <= found.usable:
            raise GnomonError(
                f"The model has {found.usable:,} positions ({found.key} is {found.stated:,}); tables only become "
                f"longer, got to={to:,}."
            )
        yield _part(source, config, found, to, method, options)


def _asked(found: tuple[Line, ...], options: Options) -> tuple[Line, ...]:
    """All, or those of one stack where the two have lengths of their own (Whisper)."""
    if len({one.key for one in found}) < 2:
        if options.part is not None:
            raise GnomonError("Nothing would read --part: the model has no two stacks with lengths of their own.")
        return found
    stack = options.part or "decoder"
    return tuple(one for one in found if one.stack == stack) or found


def _part(source: TensorSource, config: Mapping[str, Any], found: Line, to: int, method: str, options: Options) -> Part:
    more = to - found.usable
    tables: dict[str, Resized] = {}
    words, drawbacks = [], []
    for info in found.infos:
        formula = _formula(source.load(info.name), found)
        if formula is None and found.claim and found.claim.kind == "rotary":
            raise GnomonError(f"{info.name} holds angles of a rotation that follow no formula; save the model anew.")
        made = _recomputed(info, formula, found, to) if formula else _learned(info, found, to, method, options)
        tables[info.name] = made
        words.append(_recomputed_word(info, found, to) if formula else _word(info, found, to, method, options))
        drawbacks += [] if formula else _drawbacks(found, to, method, options)
        if not formula and found.claim and found.claim.kind == "sinusoidal":
            drawbacks.append(f"By its config {info.name} is a sinusoid, but its numbers are not: it counts as learned.")
    if not any(made.moments for made in tables.values()):
        _require_no_options(options)
    if not found.infos:
        words.append(f"The sinusoid of {found.usable:,} positions is stored nowhere; the model makes {to:,} by itself.")
    if found.claim is None:
        drawbacks.append("gnomon does not know this model type: position 0 is taken to have row 0.")
    tables |= grown(source, found.rows, found.rows + more)
    return Part(tables, _keys(config, found, more), to, words=tuple(words), drawbacks=tuple(dict.fromkeys(drawbacks)))


def _require_no_options(options: Options) -> None:
    """Sinusoids follow from their formula, so nothing is left open."""
    if options != Options(part=options.part):
        raise GnomonError(
            "Nothing would read --kind, --keep or --alpha: the model's positions are sinusoids, which are continued by "
            "their formula; leave them out."
        )


def _formula(table: Tensor, found: Line) -> Formula | None:
    table = table.reshape(table.shape[-2:])
    options = dict(found.claim.options) if found.claim and found.claim.kind == "sinusoidal" else {}
    stated: dict[str, Any] = {}
    stated |= {name: options[name] for name in ("layout", "exponent") if name in options}
    return formula_of(table, options=stated or None, padding_row=found.offset - 1 if found.offset else None)


def _recomputed(info: TensorInfo, formula: Formula, found: Line, to: int) -> Resized:
    rows, width = found.offset + to, info.shape[-1]
    shape = (*info.shape[:-2], rows, width)
    return Resized(shape, lambda held: formula.continued(held.reshape(held.shape[-2:]), rows).reshape(shape))


def _learned(info: TensorInfo, found: Line, to: int, method: str, options: Options) -> Resized:
    if method not in METHODS:
        raise GnomonError(f"{method!r} scales rotations, and {info.name} is a learned table; use {', '.join(METHODS)}.")
    return line(info.shape, line_stencil(method, found.usable, to, options).after(found.offset))


def _recomputed_word(info: TensorInfo, found: Line, to: int) -> str:
    positions = f"its {found.usable:,} positions stay, and those up to {to:,} follow from the formula"
    return f"{info.name} holds sinusoids: {positions}."


def _word(info: TensorInfo, found: Line, to: int, method: str, options: Options) -> str:
    how = {
        TILE: "by repeating the table",
        INTERPOLATE: f"by {_kind(options)} interpolation, with both ends in place",
        KEEP: f"by keeping the first {kept(found.usable, options):,}{_default(options)} and stretching the others over "
        f"the rest ({_kind(options)}ly)",
        HIERARCHY: f"by two digits, of which the first counts {first_digit(options):g}",
    }
    before = f", after {found.offset} reserved rows that stay" if found.offset else ""
    return f"{info.name}: {found.usable:,} positions become {to:,} {how[TILE if method == AUTO else method]}{before}."


def _drawbacks(found: Line, to: int, method: str, options: Options) -> list[str]:
    said = {
        INTERPOLATE: "All positions move, so inputs of any length change; train the model further.",
        KEEP: f"Inputs of more than {kept(found.usable, options):,} positions change; train the model further.",
        TILE: f"Positions {found.usable:,} apart have one vector, so the model cannot tell them apart untrained.",
        HIERARCHY: f"Positions from {found.usable:,} on have sums of vectors that the model has never seen; train it.",
    }
    return [said[TILE if method == AUTO else method]]


def _kind(options: Options) -> str:
    return "linear" if options.kind == AUTO else options.kind


def _default(options: Options) -> str:
    return " (a quarter, as --keep says no other number)" if options.keep is None else ""


def _keys(config: Mapping[str, Any], found: Line, more: int) -> dict[str, Any]:
    """The key of the length, others of the same part that say the same, and what must not follow them."""
    reader = inner(ConfigReader(config))
    prefix = reader.named("")
    edits: dict[str, Any] = {found.key: found.stated + more}
    if found.key.removeprefix(prefix) in LENGTH:
        edits |= {prefix + key: found.stated + more for key in LENGTH if reader.config.get(key) == found.stated}
    for claim in model_claims(config):
        if claim.kind == "deberta" and claim.keys.get("max_distance") in edits:
            edits[f"{prefix}max_relative_positions"] = found.stated  # DeBERTa's table of distances stays as it is
    return edits
