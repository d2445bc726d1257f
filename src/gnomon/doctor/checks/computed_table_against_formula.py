"""PE309: the sinusoids that the forward adds, computed on the fly, against the claimed formula."""

from collections.abc import Iterator

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.expected import claims_or_none
from gnomon.doctor.evidence.sinusoid import fit_sinusoid
from gnomon.doctor.evidence.sinusoid_faults import departures, largest_difference
from gnomon.doctor.evidence.used import used_table
from gnomon.doctor.thresholds import TABLE
from gnomon.report.document import Finding, Measured

FAIRSEQ_START = 2  # fairseq and its descendants (XGLM, M2M100) count from padding id + 1


@check("PE309", "computed-table-against-formula", severity="error", needs=(used_table,))
def computed_table_against_formula(subject: Subject) -> Iterator[Finding | Measured]:
    """The sinusoids that reach the first block are not the formula's: base, sign, start or order of columns differ.

    Why: a stored table may be right and used wrongly (a slice that starts at 1, a sign in the sum), and many models
    store none. Here every word vector is set to zero, so that what arrives at the first block is the table as it is
    used.

    Fix: compute sin and cos of position times base^(-2i/d) from position 0, in the claimed order of columns.

    Sources: Vaswani et al. 2017, section 3.5; tensor2tensor and fairseq for the half order and its other exponent, and
    fairseq for tables that start at position 2 (a note, where nothing is claimed).
    """
    used = used_table(subject)
    claims = claims_or_none(subject, "sinusoidal")
    fit = fit_sinusoid(used.values)
    if fit is None:
        if not claims or fit_sinusoid(used.values.T) is not None:
            raise MissingEvidence(
                "what is added are no sinusoids (learned vectors have no formula; PE205: swapped axes)"
            )
        if claims_or_none(subject, "learned"):
            raise MissingEvidence("the model claims sinusoids and a learned table, and what is added are no sinusoids")
        yield Measured("sinusoids are added", "no", "yes", "the model claims a sinusoidal encoding")
        yield Finding(
            used.where,
            "the model claims sinusoids, but what is added to the words are no sinusoids",
            "look for an initialiser that overwrites the table, or a mask that cuts it",
        )
        return
    largest, _ = largest_difference(used.values, fit, TABLE.value)
    yield Measured("base of the sinusoids that are added", fit.base, None, f"{fit.layout}, residual {largest:.1g}")
    claim = claims[0] if claims else None
    start = int(claim.options.get("padding_offset", 0)) if claim else 0
    yield Measured("position of the first token", fit.shift, start, f"counting starts at {start}")
    for departure in departures(fit, claim, start=start):
        reserved = not claims and departure.measured.get("shift") == FAIRSEQ_START
        severity = "note" if reserved else departure.severity
        yield Finding(used.where, departure.message, departure.fix, departure.measured, severity)
