"""PE513: inputs in use are longer than any that the training batches hold."""

from collections.abc import Iterator

import numpy as np
from torch import Tensor

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.base import attempt
from gnomon.doctor.evidence.batches import batch_arguments
from gnomon.doctor.evidence.lengths import lengths_in_use
from gnomon.doctor.evidence.tables import position_tables
from gnomon.report.document import Finding, Measured


@check("PE513", "longer-than-trained", severity="warning", needs=(batch_arguments, lengths_in_use))
def longer_than_trained(subject: Subject) -> Iterator[Finding | Measured]:
    """Some inputs in use have more tokens than the longest of the training batches.

    Why: rows of a learned table beyond the longest training text are noise, and rotary angles there were never seen:
    the model accepts such inputs and gets worse without a word. Relative encodings that are made for it (ALiBi, T5's
    last bucket) bear it; then this is only a note.

    Fix: cut inputs to the trained length, mix long texts into training, or scale positions and train on (YaRN,
    LongRoPE).

    Sources: Press et al. 2022, arXiv:2108.12409 (which encodings bear longer inputs); Chen et al. 2023,
    arXiv:2306.15595, section 2.
    """
    longest = max((_length(batch) for batch in batch_arguments(subject)), default=0)
    if not longest:
        raise MissingEvidence("no batch holds token ids (batch, sequence)")
    used = lengths_in_use(subject)
    beyond = int((used > longest).sum())
    why = f"the longest has {longest} tokens"
    yield Measured("inputs longer than any training batch", beyond / len(used), 0.0, why)
    if beyond:
        tables = [t.name for t in attempt(position_tables, subject) or () if t.kind == "learned"]
        yield Finding(
            tables[0] if tables else "the inputs in use",
            f"{beyond} of {len(used)} inputs are longer than {longest} tokens, up to {int(np.max(used))}"
            + (": the rows for those positions are as they were drawn" if tables else ""),
            f"cut inputs to {longest} tokens, or train on longer ones",
            {"longest in training": longest, "longest in use": int(np.max(used)), "share": beyond / len(used)},
            severity=None if tables else "note",
        )


def _length(batch: dict[str, object]) -> int:
    """The greatest second size of the batch's integer matrices: ids, masks and labels of tokens."""
    return max(
        (v.shape[1] for v in batch.values() if isinstance(v, Tensor) and v.ndim == 2 and not v.is_floating_point()),
        default=0,
    )
