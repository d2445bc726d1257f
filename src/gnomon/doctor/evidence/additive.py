"""Whether a model has, claims or shows positions that are added to its embeddings."""

from gnomon.adapters.subject import Subject
from gnomon.doctor.evidence.base import attempt, claims, evidence
from gnomon.doctor.evidence.idle import running_position_tables
from gnomon.doctor.evidence.sinusoid import fit_sinusoid
from gnomon.doctor.evidence.used import used_table

ADDED = ("learned", "sinusoidal")


@evidence
def additive(subject: Subject) -> bool:
    """By a claim, by a stored table of vectors, or by sinusoids that arrive at the first block."""
    if any(c.kind in ADDED for c in claims(subject)) or running_position_tables(subject):
        return True
    used = attempt(used_table, subject)
    return used is not None and fit_sinusoid(used.values) is not None
