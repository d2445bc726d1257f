"""How many tokens each example has, as the caller counted them."""

import numpy as np
from jaxtyping import Int64

from gnomon.adapters.lengths import checked_lengths
from gnomon.adapters.subject import Subject
from gnomon.doctor.evidence.base import evidence


@evidence
def lengths_in_use(subject: Subject) -> Int64[np.ndarray, " examples"]:
    """The lengths as whole numbers; raises MissingEvidence without any, GnomonError for what cannot be one."""
    return np.asarray(checked_lengths(subject.get("lengths")), dtype=np.int64)
