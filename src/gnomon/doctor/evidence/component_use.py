"""What may be wrong with a bare position module in use: long inputs, earlier calls, and casts."""

from collections.abc import Iterator

import numpy as np
import torch

from gnomon.doctor.evidence.component import LENGTH, Component
from gnomon.doctor.evidence.component_values import added_rows, cast, failure_at, longest, rotation_angles
from gnomon.doctor.evidence.expected import wrapped
from gnomon.report.document import Finding, Measured

FAR = 600  # places
CAST = 0.05  # of the largest value, or radians; rounding a finished table to bfloat16 costs 0.004
WHERE = "the module"


def use_faults(found: Component) -> Iterator[Finding | Measured]:
    """Its longest input, what it keeps between calls, and what a cast does to it."""
    yield from _length(found)
    yield from _kept(found)
    yield from _after_cast(found)


def _length(found: Component) -> Iterator[Finding | Measured]:
    failure = failure_at(found, FAR)
    if failure is None:
        yield Measured("longest input", f"{FAR} or more", None, "tried")
        return
    low, high = LENGTH, FAR
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if failure_at(found, middle) is None else (low, middle)
    failure = str(failure_at(found, high))
    yield Measured("longest input", low, None, failure.splitlines()[0][:120])
    silent = failure.endswith("rows come out")
    if silent or not (str(low) in failure and str(high) in failure) or "size of tensor" in failure:
        yield Finding(
            WHERE,
            f"the longest input is {low} places; with {high} of them "
            + (failure if silent else f"it fails: {failure}"),
            f"raise a ValueError that names {high} and {low}, or extend the table",
            {"longest": low},
            severity="warning" if silent else "note",
        )


def _kept(found: Component) -> Iterator[Finding]:
    """An earlier call of another length must not change a later one."""
    longer = min(LENGTH + 7, longest(found, LENGTH + 7))
    used, fresh = cast(found, torch.float32), cast(found, torch.float32)
    for earlier, later in ((longer, LENGTH), (LENGTH, longer)):
        used(earlier, 1)
        after, alone = used(later, 1), fresh(later, 1)
        pair = [t[0] if isinstance(t, tuple | list) else t for t in (after, alone)]
        if pair[0].shape != pair[1].shape or not torch.allclose(pair[0], pair[1], atol=1e-5):
            yield Finding(
                WHERE,
                f"a call for {later} places gives something else after a call for {earlier}",
                "what is kept between calls must be cut to this call's length and ids",
            )
            return


def _after_cast(found: Component) -> Iterator[Finding | Measured]:
    """After `module.to(torch.bfloat16)`: tables that are rounded when finished, or positions and angles that are."""
    length = longest(found, FAR)
    half = cast(found, torch.bfloat16)
    try:
        if found.kind == "rotation":
            exact, rounded = rotation_angles(found, length)[0], rotation_angles(half, length)[0]
            error = float(np.abs(wrapped(exact - rounded)).max())
        elif found.kind == "added":
            exact, rounded = added_rows(found, length), added_rows(half, length)
            error = float(np.abs(exact - rounded).max() / max(np.abs(exact).max(), 1e-30))
        else:
            return
    except (Exception, SystemExit):  # noqa: BLE001 - a module that does not run in bfloat16 is not used so
        return
    yield Measured(
        f"change of {length} positions after .to(torch.bfloat16)", error, CAST, "rounding what is finished: 0.008"
    )
    if error > CAST:
        yield Finding(
            WHERE,
            f"after .to(torch.bfloat16) positions up to {length} are off by {error:.2g}: frequencies or positions are "
            "rounded before the sine is taken",
            "keep frequencies in float32 whatever the module is cast to (a plain attribute, or computed in forward), "
            "compute angles in float32, and round the finished sine and cosine",
            {"change": error},
            severity="note",
        )
