"""PE208: the frequencies of a table do not fall from fast to slow."""

from collections.abc import Iterator

import numpy as np
import torch

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.running import running_tables
from gnomon.doctor.evidence.tables import Table
from gnomon.report.document import Finding, Measured

EPS = 2.0**-7  # bfloat16's, where the dtype is not one of torch's
STEPS = 1.0  # rounding errors that a frequency is off by, over the rows of its table; measured: at most 0.3


@check("PE208", "frequency-order", severity="error", needs=(running_tables,))
def frequency_order(subject: Subject) -> Iterator[Finding | Measured]:
    """The frequencies of a sinusoid table or of a rotary encoding rise somewhere, or are so fast that they alias.

    Why: low dimensions should turn fast (neighbours differ) and high ones slowly (paragraphs differ). Frequencies out
    of order mean that columns were shuffled or the exponent is wrong; frequencies above pi alias: two positions apart
    look like one; a rising order is a reciprocal that was forgotten (a table of wavelengths where frequencies
    belong).

    Fix: frequency i is base^(-2i/d): 1 first, then falling. If the code holds base^(2i/d), take the reciprocal.

    Sources: Vaswani et al. 2017, section 3.5; mlx's `freqs`, which are periods and so the reciprocal of `inv_freq`.
    """
    judged = False
    for table in running_tables(subject):
        if table.kind == "frequencies":
            frequencies = table.values[0]
        elif table.sinusoid is not None and not table.transposed:
            frequencies = table.sinusoid.frequencies
        else:
            continue
        if not np.isfinite(frequencies).all():
            continue
        judged = True
        rising = int((np.diff(frequencies) > _noise(table)).sum())
        yield Measured(f"places where the frequencies of {table.name} rise", rising, 0, "fast first, slow last")
        if rising:
            reciprocal = rising == len(frequencies) - 1 and abs(frequencies[0] - 1) < 1e-3
            yield Finding(
                table.name,
                f"frequencies rise at {rising} of {len(frequencies) - 1} places (first {frequencies[0]:.4g})",
                "these are wavelengths: take the reciprocal" if reciprocal else "order the frequencies base^(-2i/d)",
                {"rising": rising},
            )
        if frequencies.max() > np.pi:
            yield Finding(
                table.name,
                f"the fastest frequency is {frequencies.max():.4g} radians a position, above pi: positions alias",
                "the fastest frequency of the published formula is 1",
                {"fastest": float(frequencies.max())},
            )
    if not judged:
        raise MissingEvidence("no sinusoid table and no stored frequencies")


def _noise(table: Table) -> float:
    """What rounding may do to the order: nothing to stored frequencies, a little to those read off a table's steps."""
    dtype = getattr(torch, table.info.dtype.lower().replace("bf16", "bfloat16"), None)
    eps = torch.finfo(dtype).eps if isinstance(dtype, torch.dtype) and dtype.is_floating_point else EPS
    return 0.0 if table.kind == "frequencies" else STEPS * eps / len(table.values)
