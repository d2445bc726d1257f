"""PE224: a fixed table over a grid of patches has another grid than the image, or its class row at the wrong end."""

from collections.abc import Iterator

from torch import Tensor, nn

from gnomon.adapters.families.config_reader import ConfigReader
from gnomon.adapters.families.image_rules import patch_grid
from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.base import attempt
from gnomon.doctor.evidence.configs import config_parts
from gnomon.doctor.evidence.patch_grids import PatchGrid
from gnomon.doctor.evidence.tables import position_tables
from gnomon.report.document import Finding, Measured


@check("PE224", "grid-sinusoid", severity="error", needs=(position_tables,))
def grid_sinusoid(subject: Subject) -> Iterator[Finding | Measured]:
    """A table of sinusoids over rows and columns is laid out for another grid, or keeps its row of zeros at the end.

    Why: the patches of an image come row by row. A table that was built with height and width swapped has as many rows,
    and gives every patch but the corners the place of another one; on square images it is right. A row for the class
    token that was appended where the token is put in front shifts every patch by one.

    Fix: build the table from np.arange(rows) and np.arange(columns) in this order, row by row, and put the zeros of the
    class token where the token is.

    Sources: pytorch-image-models#2478 (the class row at the end), pytorch/torchtitan#4244 (two swaps that hide each
    other on squares); He et al. 2022, arXiv:2111.06377, for the table.
    """
    found = [(table.name, table.grid) for table in position_tables(subject) if table.grid is not None]
    if not found:
        raise MissingEvidence("no table of sinusoids over a grid")
    for name, fit in found:
        stated = _stated(subject) or _cut(subject, fit.rows * fit.columns)
        yield Measured(f"grid of {name}", f"{fit.rows} x {fit.columns}", stated and _said(stated), "patches")
        if stated is not None and stated != (fit.rows, fit.columns):
            yield _other_grid(name, fit, stated)
        if fit.after and not fit.before:
            yield Finding(
                name,
                f"{fit.after} row of zeros stands behind the {fit.rows} x {fit.columns} patches, not in front of them",
                "put the zeros of the class token in front: np.concatenate([zeros, table])",
                {"zeros before": fit.before, "zeros after": fit.after},
                severity="warning",  # right for a model that appends its class token
            )


def _other_grid(name: str, fit: PatchGrid, stated: tuple[int, int]) -> Finding:
    swapped = stated == (fit.columns, fit.rows)
    return Finding(
        name,
        f"the table is laid out for {fit.rows} x {fit.columns} patches, but images have {_said(stated)}"
        + (": rows and columns are swapped" if swapped else ""),
        f"build it for {stated[0]} rows of {stated[1]} patches, row by row",
        {"rows": fit.rows, "columns": fit.columns},
    )


def _stated(subject: Subject) -> tuple[int, int] | None:
    parts = (part for _, part in config_parts(attempt(lambda s: s.config, subject) or {}))
    found = next((grid for part in parts if (grid := patch_grid(ConfigReader(part)).value)), None)
    return (found[0], found[1]) if found else None


def _cut(subject: Subject, patches: int) -> tuple[int, int] | None:
    """The grid that the model's own convolution cuts the example's image into, if it has as many patches."""
    example = attempt(lambda s: s.example, subject) or {}
    images = [x for x in example.values() if isinstance(x, Tensor) and x.ndim == 4 and x.is_floating_point()]
    module = attempt(lambda s: s.module, subject)
    cuts = [m for m in module.modules() if isinstance(m, nn.Conv2d) and m.kernel_size == m.stride] if module else []
    for image, cut in ((image, cut) for image in images for cut in cuts if image.shape[1] == cut.in_channels):
        rows, columns = (int(n) // int(step) for n, step in zip(image.shape[2:], cut.stride, strict=True))
        if cut.stride[0] > 1 and rows * columns == patches:
            return rows, columns
    return None


def _said(grid: tuple[int, int]) -> str:
    return f"{grid[0]} x {grid[1]}"
