"""PE222: a table of positions was resized for another length or grid, and the rows went to the wrong places."""

import math
from collections.abc import Iterator

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.resized import SPECIAL, Grid, Resized, resized_tables
from gnomon.report.document import Finding, Measured


@check("PE222", "resized-table", severity="error", needs=(resized_tables,))
def resized_table(subject: Subject) -> Iterator[Finding | Measured]:
    """A table that was interpolated for another image size has its axes swapped, a wrong size, or was left as it was.

    Why: a table of patches is an image of rows and columns, kept as one list. Resizing code that takes the list for a
    square, swaps height and width, compares only the number of patches, or rounds a scale factor down works on every
    square image and is silently wrong on others, or one patch short at odd sizes.

    Fix: pass the old grid and the new one as (rows, columns) and interpolate to `size=`, not by `scale_factor=`; keep
    the rows of class tokens apart, in front. Test with height unlike width.

    Sources: pytorch-image-models#2737 and #2317, pytorch/torchtitan#4244, facebookresearch/dinov2#378, #506 and #582,
    transformers#32410.
    """
    judged = False
    for resized in resized_tables(subject):
        name, best = resized.table.name, resized.best
        findings = list(_judge(resized)) if resized.grid and resized.grid_before else []
        judged = judged or bool(findings) or best.how != "unknown"
        yield Measured(f"making of {name}", best.how, None, f"{len(resized.before.values)} rows before")
        yield Measured(f"rows of {name}", len(resized.table.values), _rows(resized) or None, _wanted(resized))
        yield from findings
    if not judged:
        raise MissingEvidence("cannot tell how the table was made: no interpolation of the reference gives its numbers")


def _judge(resized: Resized) -> Iterator[Finding]:
    best, wanted = resized.best, resized.grid or (0, 0)
    more = len(resized.table.values) - math.prod(wanted)
    if not 0 <= more <= SPECIAL:
        patches = len(resized.table.values) - resized.special
        yield _finding(resized, f"the table has rows for {patches} patches", "by size=, as scale_factor= rounds down")
    elif best.how == "kept" and wanted != resized.grid_before:
        yield _finding(resized, "the table was left as it was, since the number of patches agrees", "compare the grids")
    elif best.how in ("unknown", "kept"):
        return
    elif best.special_last:
        yield _finding(resized, "the rows of the class tokens stand behind the patches", "put them in front")
    elif best.source != resized.grid_before:
        yield _finding(resized, f"the old table was read as {_said(best.source)}", "pass the old grid")
    elif best.turned or best.target != wanted:
        yield _finding(resized, f"rows and columns are swapped ({_said(best.target)})", "keep them in one order")


def _finding(resized: Resized, seen: str, fix: str) -> Finding:
    return Finding(
        resized.table.name,
        f"{seen}; resized from {_said(resized.grid_before)} to {_said(resized.grid)} patches it should be "
        f"{_wanted(resized)}",
        f"interpolate the old table as {_said(resized.grid_before)} to size {_said(resized.grid)}: {fix}",
        {"rows": len(resized.table.values), "expected rows": _rows(resized), "making": resized.best.how},
    )


def _rows(resized: Resized) -> int:
    return math.prod(resized.grid) + resized.special if resized.grid else 0


def _wanted(resized: Resized) -> str:
    return f"{resized.special} special rows, then patches row by row"


def _said(grid: Grid | None) -> str:
    return f"{grid[0]} x {grid[1]}" if grid else "a list"
