"""PE321: flex attention gives another result than the model's own attention."""

from collections.abc import Iterator

from gnomon.adapters.subject import Subject
from gnomon.doctor.check import check
from gnomon.doctor.checks.backends_agree import compared
from gnomon.doctor.evidence.backends import slow_backends
from gnomon.doctor.evidence.calling import model
from gnomon.report.document import Finding, Measured


@check("PE321", "flex-agrees", severity="error", needs=(model, slow_backends), heavy=True)
def flex_agrees(subject: Subject) -> Iterator[Finding | Measured]:
    """Flex attention gives other outputs than the model's own attention.

    Why: flex attention takes its mask and its bias as functions of two positions, written apart from the code of every
    other path. It is run here without being compiled, which gives the same numbers more slowly.

    Fix: give `flex_attention` the same mask and bias as the other paths: the mask as a `block_mask`, the bias in
    `score_mod`, both by the positions that were passed and not by the index of a slot.

    Sources: the transformers page on attention backends; huggingface/transformers#29946 for the same fault elsewhere.
    """
    yield from compared(model(subject), slow_backends(subject))
