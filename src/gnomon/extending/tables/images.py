"""Grids of patches and windows of image models for other sizes: ViT and its kin, BEiT, Swin, Swin v2."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import torch
from torch import Tensor

from gnomon.adapters.claims import Claim
from gnomon.adapters.families.config_reader import ConfigReader, seen
from gnomon.adapters.tensors import TensorInfo, TensorSource
from gnomon.errors import GnomonError
from gnomon.extending.tables.buffers import grown, window_indices
from gnomon.extending.tables.found import OF_TEXT, by_name, is_grid, model_claims, named, patch_sizes
from gnomon.extending.tables.grids import Size
from gnomon.extending.tables.options import AUTO, INTERPOLATE, METHODS, Options
from gnomon.extending.tables.part import Part
from gnomon.extending.tables.rectangles import require_served
from gnomon.extending.tables.resized import Resized, biases, patches
from gnomon.extending.tables.sinusoids import grid_formula_of, grid_rows
from gnomon.extending.tables.swin import swin_part

MOST_PREFIX: Final = 8  #: class and distillation tokens, registers
ANTIALIASED: Final = ("dinov2_with_registers",)


def image_parts(
    source: TensorSource, config: Mapping[str, Any], to: Size, method: str, options: Options
) -> Iterator[Part]:
    """The parts of an image model for a grid, or a window, of `to`; none when it has no such table."""
    known = model_claims(config, vision=True)
    windows = [claim for claim in known if claim.kind in ("window_bias", "log_cpb")]
    grids = [info for claim in known if is_grid(claim) for info in named(source, claim)]
    if not known:
        grids = _patch_tables(source, seen(ConfigReader(config)))
        _require_no_biases(source, grids)
    if not windows and not grids:
        return
    if method not in (AUTO, INTERPOLATE):
        named_ways = ", ".join(METHODS)
        raise GnomonError(f"Of {named_ways} only interpolate serves a grid or a window, got {method!r}.")
    if windows and not windows[0].options.get("prefix"):
        yield swin_part(source, config, windows, to, options)
        return
    yield _grid_part(source, config, (grids, windows), to, options)


def _patch_tables(source: TensorSource, reader: ConfigReader) -> list[TensorInfo]:
    """In a model type that gnomon does not know: tables by name with a row for each patch and a few before them."""
    sizes = patch_sizes(reader)
    count = _count(_grid(sizes)) if sizes else 0
    return [
        info
        for info in by_name(source)
        if count and 0 <= info.shape[-2] - count <= MOST_PREFIX and not OF_TEXT.search(info.name)
    ]


def _require_no_biases(source: TensorSource, grids: list[TensorInfo]) -> None:
    biased = next((info.name for info in source.infos() if info.name.endswith("relative_position_bias_table")), None)
    if grids and biased:
        raise GnomonError(
            f"gnomon does not know this model type, which has biases of a window ({biased}) beside its table of "
            "patches; use gnomon.extending.tables from Python."
        )


def _grid_part(
    source: TensorSource,
    config: Mapping[str, Any],
    tables_of: tuple[list[TensorInfo], list[Claim]],
    to: Size,
    options: Options,
) -> Part:
    grids, windows = tables_of
    reader, known = seen(ConfigReader(config)), bool(model_claims(config, vision=True))
    sizes = patch_sizes(reader)
    if sizes is None:
        raise GnomonError("config.json does not say the size of images and patches; add image_size and patch_size.")
    old, family = _grid(sizes), _family(config)
    if to == old:
        raise GnomonError(f"The model has a grid of {to[0]} x {to[1]} patches already.")
    require_served(family, to)
    tables: dict[str, Resized] = {}
    words = []
    for info in grids:
        made, word = _patches(source, info, old, to, _kind(options, family, windows))
        tables |= {info.name: made, **grown(source, info.shape[-2], made.shape[-2])}
        words.append(word)
    if windows:
        kind = "geometric" if options.kind == AUTO else options.kind
        held = {info.name: biases(info.shape, old, to, 3, kind) for info in named(source, windows[0])}
        words.append(f"The {len(held)} bias tables of {_by(old)} patches become those of {_by(to)} ({kind}).")
        tables |= {**held, **window_indices(source, old, to, prefix=True)}
    image = (to[0] * sizes[1][0], to[1] * sizes[1][1])
    said = {reader.named("image_size"): _written(image, reader.find("image_size").value)}
    return Part(tables, said, image=(sizes[0], image), words=tuple(words), drawbacks=_drawbacks(old, to, known=known))


def _patches(source: TensorSource, info: TensorInfo, old: Size, to: Size, kind: str) -> tuple[Resized, str]:
    prefix = info.shape[-2] - _count(old)
    if not 0 <= prefix <= MOST_PREFIX:
        raise GnomonError(
            f"The table {info.name!r} has {info.shape[-2]} rows, but by config.json there are {_by(old)} patches; "
            "correct the config first."
        )
    table = source.load(info.name).reshape(info.shape[-2:])
    formula = grid_formula_of(table, old, prefix)
    kept = f", after {prefix} rows that stay" if prefix else ""
    if formula is None:
        word = f"{info.name}: {_by(old)} patches become {_by(to)} by {kind} interpolation{kept}."
        return patches(info.shape, old, to, prefix, kind), word
    rows, shape = grid_rows(formula, to), (*info.shape[:-2], prefix + _count(to), info.shape[-1])

    def make(held: Tensor) -> Tensor:
        flat = held.reshape(held.shape[-2:])
        return torch.cat((flat[:prefix], rows.to(flat))).reshape(shape)

    word = f"{info.name} holds sinusoids of a grid: those of {_by(to)} patches follow from the formula{kept}."
    return Resized(shape, make), word


def _kind(options: Options, family: str, windows: list[Claim]) -> str:
    """Of a model with windows the asked kind is theirs."""
    if options.kind != AUTO and not windows:
        return options.kind
    return "bicubic-antialias" if family in ANTIALIASED else "bicubic"


def _drawbacks(old: Size, to: Size, *, known: bool) -> tuple[str, ...]:
    said = []
    if _count(to) < _count(old):
        said.append(f"{_by(to)} patches are fewer than {_by(old)}: the table becomes smaller, for smaller images.")
    if to[0] != to[1]:
        said.append(
            "transformers takes every table for a square when it is called with interpolate_pos_encoding=True; call "
            "the extended model without it."
        )
    if not known:
        said.append("gnomon does not know this image model; check that its code takes image_size as (height, width).")
    return tuple(said)


def _family(config: Mapping[str, Any]) -> str:
    """The model type of the image model."""
    return str(seen(ConfigReader(config)).config.get("model_type") or config.get("model_type"))


def _grid(sizes: tuple[Size, Size]) -> Size:
    return sizes[0][0] // sizes[1][0], sizes[0][1] // sizes[1][1]


def _count(size: Size) -> int:
    return size[0] * size[1]


def _by(size: Size) -> str:
    return f"{size[0]} x {size[1]}"


def _written(image: Size, before: Any) -> Any:
    """One number where it was one and can stay one."""
    return image[0] if image[0] == image[1] and type(before) is int else list(image)
