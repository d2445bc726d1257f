"""Whether a model has, claims or shows positions that are added to its embeddings."""

from gnomon.adapters.subject import Subject
from gnomon.doctor.evidence.base import attempt, claims, evidence
from gnomon.doctor.evidence.sinusoid import fit_sinusoid
from gnomon.doctor.evidence.tables import position_tables
from gnomon.doctor.evidence.used import used_table

ADDED = ("learned", "sinusoidal")


@evidence
def additive(subject: Subject) -> bool:
    """By a claim, by a stored table where nothing is claimed, or by sinusoids that arrive at the first block.

    A stored table beside claims of another kind serves that kind: RoFormer keeps its angles as a sinusoid table.
    """
    stated = claims(subject)
    if any(c.kind in ADDED for c in stated):
        return True
    if not stated and attempt(position_tables, subject) is not None:
        return True
    used = attempt(used_table, subject)
    return used is not None and fit_sinusoid(used.values) is not None
