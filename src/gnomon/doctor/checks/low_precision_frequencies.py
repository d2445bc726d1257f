"""PE209: frequencies are stored in half precision."""

import re
from collections.abc import Iterator
from functools import partial

import numpy as np
from jaxtyping import Float64

from gnomon.adapters.claims import Claim
from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.base import attempt
from gnomon.doctor.evidence.expected import claims_or_none, expected_frequencies
from gnomon.doctor.evidence.running import running_tables
from gnomon.doctor.evidence.tables import Table
from gnomon.report.document import Finding, Measured

LENGTH = 4096  # where the phase error is quoted when nothing else is known


@check("PE209", "low-precision-frequencies", severity="error", needs=(running_tables,))
def low_precision_frequencies(subject: Subject) -> Iterator[Finding | Measured]:
    """Rotary or sinusoid frequencies are stored in bfloat16 or float16.

    Why: the angle is position times frequency, so an error of 2^-9 in a frequency, which is what bfloat16 costs just
    below 1, is a radian after 512 positions. Scores stay functions of the distance, so nothing looks broken; the model
    just reads texts with other frequencies than it was trained with. A finished table of sines may be half precision;
    angles never.

    Fix: keep frequencies in float32 whatever the model's dtype (a buffer that `.half()` skips, or recompute them from
    the config); load with `dtype=` instead of casting afterwards.

    Sources: transformers issues 25681, 29285 and 30709. Measured for base 10,000 and a head of 128 in bfloat16: angles
    off by 0.63 rad at position 512 and by 5.0 rad at 4,096.
    """
    judged = False
    for table in running_tables(subject):
        if table.kind != "frequencies":
            continue
        judged = True
        half = re.search(r"b?f(loat)?16|half", table.info.dtype, re.IGNORECASE) is not None
        yield Measured(f"dtype of {table.name}", table.info.dtype, "float32 or better", "angles grow with the position")
        if half:
            error = LENGTH * _error(table, subject)
            yield Finding(
                table.name,
                f"frequencies are {table.info.dtype}: angles are off by up to {error:.2g} rad at position {LENGTH}",
                "recompute them in float32 from the config after casting, or load with dtype= instead of casting",
                {"dtype": table.info.dtype, "phase error": error},
            )
    if not judged:
        raise MissingEvidence("no stored frequencies")


def _error(table: Table, subject: Subject) -> float:
    """The largest error of a frequency: against the config's where it is stated, else what rounding may cost."""
    expected = (attempt(partial(_expected, claim), subject) for claim in claims_or_none(subject, "rotary"))
    fitting = [e for e in expected if e is not None and e.shape == table.values[0].shape]
    if fitting:
        return min(float(np.abs(table.values[0] - e).max()) for e in fitting)
    digits = 8 if "b" in table.info.dtype.lower() else 11
    return float(np.abs(table.values).max()) * 2.0**-digits


def _expected(claim: Claim, _: Subject) -> Float64[np.ndarray, " pairs"]:
    return expected_frequencies(claim)
