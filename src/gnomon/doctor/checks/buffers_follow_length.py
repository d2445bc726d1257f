"""PE610: buffers that take the size of the last input, which ranks of a training do not share."""

from collections.abc import Iterator

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.deployment.length_state import length_state
from gnomon.report.document import Finding, Measured


@check("PE610", "buffers-follow-length", severity="warning", needs=(length_state,))
def buffers_follow_length(subject: Subject) -> Iterator[Finding | Measured]:
    """A registered buffer has another shape after an input of another length.

    Why: DistributedDataParallel sends rank 0's buffers to all ranks before each forward. A cache of masks, biases or
    cosines that is registered as a buffer and rebuilt for each length has other sizes on other ranks: the broadcast
    fails, hangs or, in recent releases over gloo, writes rank 0's numbers into a table of another size without a word.
    A checkpoint of a persistent one holds the last batch's length.

    Fix: keep the cache out of the buffers (a plain attribute that is rebuilt when device or length differ), or register
    it at its full size once.

    Sources: CoCa-pytorch 17, ms-swift 10187.
    """
    state = length_state(subject)
    if not state.shapes:
        raise MissingEvidence("the model has no buffers")
    different = {name: shapes for name, shapes in state.shapes.items() if shapes[0] != shapes[1]}
    short, long = state.lengths
    yield Measured(
        f"buffers of another shape after {short} and {long} tokens", len(different), 0, "ranks share buffers"
    )
    for name, (first, second) in different.items():
        yield Finding(
            name,
            f"it is {_said(first)} after {short} tokens and {_said(second)} after {long}: ranks with inputs of"
            " different lengths cannot broadcast it",
            f"keep {name.rpartition('.')[2]} out of the buffers, or register it once at its full size",
            {"shapes": [first, second]},
        )


def _said(shape: tuple[int, ...] | None) -> str:
    return "not there" if shape is None else str(shape)
