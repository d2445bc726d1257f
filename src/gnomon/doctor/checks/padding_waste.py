"""PE705: most of a padded batch is padding."""

from collections.abc import Iterator

import numpy as np
from jaxtyping import Int64

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.lengths import lengths_in_use
from gnomon.report.document import Finding, Measured

BATCH = 8
WASTE = 0.5


@check("PE705", "padding-waste", severity="note", needs=(lengths_in_use,))
def padding_waste(subject: Subject) -> Iterator[Finding | Measured]:
    """In batches of eight drawn at random and padded to their longest row, more than half of the slots are padding.

    Why: padded slots cost the time and memory of real ones, and every fault of padded positions (PE401, PE402) acts on
    such batches. The share follows from the lengths alone: 1 - mean / expected longest of eight.

    Fix: group inputs of like length into a batch, or pack several into a row with positions that start again
    (gnomon.positions.from_lengths) and a mask that keeps them apart.

    Sources: Krell et al. 2021, arXiv:2107.02027 (half of the tokens of BERT's pre-training are padding).
    """
    used = lengths_in_use(subject)
    if used.max() == 0:
        raise MissingEvidence("every length is 0")
    waste = 1 - float(used.mean()) / expected_longest(used, BATCH)
    yield Measured("padding in batches of 8, padded to the longest row", round(waste, 4), WASTE, "share of slots")
    yield Measured("padding when all are padded to the longest input", round(1 - used.mean() / used.max(), 4))
    if waste > WASTE:
        yield Finding(
            "the batches",
            f"{waste:.0%} of the slots of a random batch of {BATCH} are padding: the mean is {used.mean():.0f} tokens,"
            f" the longest of {BATCH} has {expected_longest(used, BATCH):.0f}",
            "group inputs by length, or pack them (gnomon.positions.from_lengths)",
            {"waste": waste, "mean": float(used.mean())},
        )


def expected_longest(lengths: Int64[np.ndarray, " examples"], draws: int) -> float:
    """The mean of the longest of `draws` lengths drawn with replacement: sum of x (F(x)^n - F(x-)^n)."""
    values, counts = np.unique(lengths, return_counts=True)
    below = np.cumsum(counts) / len(lengths)
    return float((values * np.diff(np.concatenate(([0.0], below**draws)))).sum())
