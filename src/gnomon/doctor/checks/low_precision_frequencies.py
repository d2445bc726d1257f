"""PE209: frequencies are stored in half precision."""

import re
from collections.abc import Iterator

import numpy as np

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.tables import tables
from gnomon.report.document import Finding, Measured

LENGTH = 4096  # where the phase error is quoted when nothing else is known


@check("PE209", "low-precision-frequencies", severity="error", needs=(tables,))
def low_precision_frequencies(subject: Subject) -> Iterator[Finding | Measured]:
    """Rotary or sinusoid frequencies are stored in bfloat16 or float16.

    Why: the angle is position times frequency, so a relative error of 2^-9 in a frequency is a whole turn after a few
    hundred positions. Scores stay functions of the distance, so nothing looks broken; the model just reads longer texts
    with other frequencies than it was trained with. A finished table of sines may be half precision; angles never.

    Fix: keep frequencies in float32 whatever the model's dtype (a buffer that `.half()` skips, or recompute them from
    the config); load with `dtype=` instead of casting afterwards.

    Sources: transformers issues 25681, 29285 and 30709; error of cos at position 512 with bfloat16 frequencies: 0.6.
    """
    judged = False
    for table in tables(subject):
        if table.kind != "frequencies":
            continue
        judged = True
        half = re.search(r"b?f(loat)?16|half", table.info.dtype, re.IGNORECASE) is not None
        yield Measured(f"dtype of {table.name}", table.info.dtype, "float32 or better", "angles grow with the position")
        if half:
            digits = 8 if "b" in table.info.dtype.lower() else 11
            error = LENGTH * float(np.abs(table.values).max()) * 2.0 ** -(digits + 1)
            yield Finding(
                table.name,
                f"frequencies are {table.info.dtype}: angles are off by up to {error:.2g} rad at position {LENGTH}",
                "recompute them in float32 from the config after casting, or load with dtype= instead of casting",
                {"dtype": table.info.dtype, "phase error": error},
            )
    if not judged:
        raise MissingEvidence("no stored frequencies")
