"""PE214: a stored index of positions, offsets or buckets holds wrong numbers."""

from collections.abc import Iterator

import numpy as np

from gnomon.adapters.subject import Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.index_tables import SPECIAL, IndexTable, index_tables
from gnomon.doctor.evidence.offsets import grids_of, two_sides_share
from gnomon.report.document import Finding, Measured


@check("PE214", "index-table", severity="error", needs=(index_tables,))
def index_table(subject: Subject) -> Iterator[Finding | Measured]:
    """A buffer of position ids, relative offsets or buckets does not hold the index it should.

    Why: an index buffer is arithmetic kept as data, and nothing recomputes it when it goes wrong. Created with
    `torch.empty` and never filled it holds huge numbers; averaged with other checkpoints as floats it holds 0.98, which
    truncates to 0, so that two places share a row; in half precision whole numbers above 2,048 run together.

    Fix: rebuild the buffer from its formula after loading (`torch.arange(n)`, or the offsets of a window), register it
    with `persistent=False`, and leave integer buffers out of averages and casts.

    Sources: pytorch-image-models issue 2661 (created empty), stable-diffusion-webui pull request 6728 (position ids
    averaged as floats), candle issue 1312 (buckets beyond their table); Liu et al. 2021, arXiv:2103.14030 (windows).
    """
    for table in index_tables(subject):
        broken = list(_not_an_index(table))
        yield Measured(f"distinct numbers in {table.name}", len(np.unique(table.values)), None, table.kind)
        yield from broken or _judge(table)


def _not_an_index(table: IndexTable) -> Iterator[Finding]:
    """What no index may hold, whatever it counts."""
    values, rows = table.values, table.rows
    if not np.isfinite(values).all() or (values != np.round(values)).any():
        worst = float(np.nanmax(np.abs(values - np.trunc(values))))
        yield Finding(
            table.name,
            f"the index is {table.dtype} and holds fractions (up to {worst:.2g} above a whole number): used as an "
            f"integer it has {len(np.unique(np.trunc(values)))} distinct entries for {_expected(table)} places",
            f"write the whole numbers back ({_formula(table)}) and leave this buffer out of averages and casts",
            {"fraction": worst},
        )
        return
    most = rows if rows is not None else _largest(table)
    if values.min() < 0 or values.max() >= most:
        yield Finding(
            table.name,
            f"the index runs from {values.min():.0f} to {values.max():.0f}, but its table has rows 0 to {most - 1}",
            f"fill the buffer from its formula ({_formula(table)}); it looks "
            + ("uninitialised" if np.abs(values).max() > 1e6 else "made for another table"),
            {"smallest": float(values.min()), "largest": float(values.max()), "rows": most},
        )


def _judge(table: IndexTable) -> Iterator[Finding]:
    if table.kind == "places":
        yield from _places(table)
        return
    square = table.square()
    if square is None:
        return
    if table.kind == "buckets":
        grids = grids_of(square, distinct=False)
        if not grids:
            yield _no_function(table)
        elif (1, len(square)) in grids and (shared := two_sides_share(square)):
            back, ahead, bucket = shared
            yield Finding(
                table.name,
                f"{back} places back and {ahead} ahead share bucket {bucket}: the far side runs into the other one",
                "cap the logarithmic part at the last bucket of its side (for 32 two-way buckets 15 and 31)",
                {"back": back, "ahead": ahead, "bucket": bucket},
            )
    else:
        mirrored = table.name.endswith("bias_idxs")  # LeViT's and EfficientFormer's: one entry for both directions
        if not grids_of(square, None if mirrored else table.rows, mirrored=mirrored):
            yield _no_function(table)


def _places(table: IndexTable) -> Iterator[Finding]:
    values = table.values.ravel() if table.values.ndim == 1 else table.values
    if values.ndim != 1 or (np.diff(values) == 1).all():
        if table.dtype.startswith(("float", "bfloat")):
            yield Finding(
                table.name,
                f"position ids are kept as {table.dtype}: half precision cannot count beyond 2,048",
                "keep the buffer int64",
                {"dtype": table.dtype},
                severity="warning",
            )
        return
    distinct, place = len(np.unique(values)), int(np.flatnonzero(np.diff(values) != 1)[0])
    repeated = distinct < len(values)
    yield Finding(
        table.name,
        f"the ids are not {_formula(table)}: {distinct} of {len(values)} are distinct, and place {place + 1} holds "
        f"{values[place + 1]:.0f} after {values[place]:.0f}",
        f"write torch.arange({len(values)}) back into the buffer, or drop it from the file",
        {"distinct": distinct, "places": len(values)},
        severity="error" if repeated else "warning",
    )


def _no_function(table: IndexTable) -> Finding:
    return Finding(
        table.name,
        "the entry does not depend on the offset alone: pairs of places that lie equally far apart get other entries"
        if table.kind == "buckets"
        else "the entries are not those of a window: equal offsets have different entries, or different offsets one",
        f"rebuild the buffer: {_formula(table)}",
        {"distinct": len(np.unique(table.values))},
    )


def _expected(table: IndexTable) -> int:
    return table.values.size if table.kind == "places" else _largest(table)


def _largest(table: IndexTable) -> int:
    """No index needs more rows than this: one a place, or one an offset of a window and those of a class token."""
    if table.kind == "places":
        return 2 * table.values.size + 1024  # counted from a padding row, or from the end of a prefix
    side = table.square()
    return 4 * len(side) + SPECIAL if side is not None else 4 * table.values.size


def _formula(table: IndexTable) -> str:
    if table.kind == "places":
        return f"0 to {table.values.size - 1} in order"
    if table.kind == "buckets":
        return "one bucket for each distance and side"
    return "(row offset + H - 1) * (2 W - 1) + column offset + W - 1"
