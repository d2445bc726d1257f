"""PE208: the frequencies of a table do not fall from fast to slow."""

from collections.abc import Iterator

import numpy as np

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.tables import tables
from gnomon.report.document import Finding, Measured


@check("PE208", "frequency-order", severity="error", needs=(tables,))
def frequency_order(subject: Subject) -> Iterator[Finding | Measured]:
    """The frequencies of a sinusoid table or of a rotary encoding do not fall monotonically from about 1.

    Why: low dimensions should turn fast (neighbours differ) and high ones slowly (paragraphs differ). Frequencies out
    of order mean that columns were shuffled or the exponent is wrong; frequencies above pi alias: two positions apart
    look like one; a rising order is a reciprocal that was forgotten (a table of wavelengths where frequencies
    belong).

    Fix: frequency i is base^(-2i/d): 1 first, then falling. If the code holds base^(2i/d), take the reciprocal.

    Sources: Vaswani et al. 2017, section 3.5; mlx's `freqs`, which are periods and so the reciprocal of `inv_freq`.
    """
    judged = False
    for table in tables(subject):
        if table.kind == "frequencies":
            frequencies = table.values[0]
        elif table.sinusoid is not None and not table.transposed:
            frequencies = table.sinusoid.frequencies
        else:
            continue
        if not np.isfinite(frequencies).all():
            continue
        judged = True
        rising = int((np.diff(frequencies) > 1e-6 * np.abs(frequencies[:-1])).sum())
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
