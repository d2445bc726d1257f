"""Whether a model has, claims or shows positions that are added to its embeddings."""

from gnomon.adapters.subject import Subject
from gnomon.doctor.evidence.base import attempt, claims, evidence
from gnomon.doctor.evidence.sinusoid import fit_sinusoid
from gnomon.doctor.evidence.tables import position_tables
from gnomon.doctor.evidence.used import used_table


@evidence
def additive(subject: Subject) -> bool:
    """By a stored table, by a claim, or by sinusoids that arrive at the first block."""
    if attempt(position_tables, subject) or any(c.kind in ("learned", "sinusoidal") for c in claims(subject)):
        return True
    used = attempt(used_table, subject)
    return used is not None and fit_sinusoid(used.values) is not None
