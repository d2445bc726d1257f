"""How a table of positions was made from the one before it: kept, cut, lengthened, or interpolated over which grid."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import interpolate

from gnomon.adapters.families.config_reader import ConfigReader
from gnomon.adapters.families.image_rules import patch_grid
from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.evidence.base import attempt, evidence
from gnomon.doctor.evidence.configs import config_parts
from gnomon.doctor.evidence.query_key_rows import reference_subject
from gnomon.doctor.evidence.tables import Table, position_tables

Grid = tuple[int, int]
SPECIAL = 8  # most rows before the patches: class and distillation tokens, registers
SAME = 0.02  # residual, relative to the table: bfloat16 costs 0.004, another mode of interpolation 0.05 and more


@dataclass(frozen=True)
class Making:
    """One way to make the table. `source`, `target`: the grids it was read and written as; None: not as a grid."""

    how: str
    source: Grid | None = None
    target: Grid | None = None
    turned: bool = False
    special_last: bool = False
    residual: float = math.inf


@dataclass(frozen=True)
class Resized:
    """A table and the one before it, the grids that the configs state, and how the one was made from the other."""

    table: Table
    before: Table
    grid: Grid | None
    grid_before: Grid | None
    special: int
    best: Making


@evidence
def resized_tables(subject: Subject) -> tuple[Resized, ...]:
    """Each table beside the reference's of the same name, or the only one of each."""
    other = reference_subject(subject)
    mine, theirs = position_tables(subject), {table.name: table for table in position_tables(other)}
    if len(mine) == len(theirs) == 1:
        theirs = {mine[0].name: next(iter(theirs.values()))}
    pairs = [
        (t, theirs[t.name]) for t in mine if t.name in theirs and t.values.shape[1] == theirs[t.name].values.shape[1]
    ]
    if not pairs:
        raise MissingEvidence("no table of positions of the same name and width in both models")
    return tuple(_compared(table, before, grid_of(subject), grid_of(other)) for table, before in pairs)


def grid_of(subject: Subject) -> Grid | None:
    """Rows and columns of patches, as the config says; None for text, and where nothing says it."""
    for _, part in config_parts(attempt(lambda s: s.config, subject) or {}):
        grid = patch_grid(ConfigReader(part)).value
        if grid is not None:
            return grid[0], grid[1]
    return None


def _compared(table: Table, before: Table, grid: Grid | None, grid_before: Grid | None) -> Resized:
    special = len(before.values) - math.prod(grid_before) if grid_before else 0
    if not 0 <= special <= SPECIAL:
        grid, grid_before, special = None, None, 0
    new, old = torch.from_numpy(table.values), torch.from_numpy(before.values)
    makings = [
        Making(**how, residual=float((new - made).norm() / new.norm().clamp(min=1e-30)))
        for how, made in _ways(old, len(new), special, grid_before, grid)
        if made.shape == new.shape
    ]
    best = min(makings, key=lambda making: making.residual, default=Making("unknown"))
    return Resized(table, before, grid, grid_before, special, best if best.residual <= SAME else Making("unknown"))


def _ways(
    old: Tensor, rows: int, special: int, before: Grid | None, after: Grid | None
) -> Iterator[tuple[dict[str, Any], Tensor]]:
    """What each way would have made; the plainest first, since the first of equals is taken."""
    if before is None or after is None:
        yield {"how": "kept"}, old
        yield {"how": "cut"}, old[:rows]
        for corners in (True, False):
            line = interpolate(old.T[None], size=rows, mode="linear", align_corners=corners)[0].T
            yield {"how": "interpolated"}, line
        return
    head, patches = old[:special], old[special:]
    yield {"how": "kept", "source": before, "target": after}, old
    for source in _grids(len(patches), before):
        for target in _grids(rows - special, after):
            for turned in (False, True):
                where = {"source": source, "target": target, "turned": turned}
                for how, made in _images(patches, source, target, turned=turned):
                    yield {"how": how, **where}, torch.cat([head, made])
                    if special:
                        yield {"how": how, **where, "special_last": True}, torch.cat([made, head])


def _grids(count: int, stated: Grid) -> list[Grid]:
    """The stated grid, the same turned, and the square that a careless reader takes the rows for."""
    side = math.isqrt(max(count, 0))
    found = [stated, (stated[1], stated[0]), *([(side, side)] if side * side == count else [])]
    return list(dict.fromkeys(grid for grid in found if math.prod(grid) == count and min(grid) > 0))


def _images(patches: Tensor, source: Grid, target: Grid, *, turned: bool) -> Iterator[tuple[str, Tensor]]:
    """(rows, dims) of each usual interpolation; `turned`: the image was read, or written, with its axes swapped."""
    image = patches.T.reshape(1, -1, *source)
    if turned:
        image = image.transpose(2, 3)
    for mode in ("bicubic", "bilinear"):
        for antialias in (False, True):
            made = interpolate(image, size=target, mode=mode, antialias=antialias, align_corners=False)
            yield mode + (" with antialias" if antialias else ""), made[0].flatten(1).T
        made = interpolate(image, size=target, mode=mode, align_corners=True)
        yield f"{mode} on corners", made[0].flatten(1).T
    yield "nearest", interpolate(image, size=target, mode="nearest")[0].flatten(1).T
