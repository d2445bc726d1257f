"""PE305: a row's result depends on its place in the batch, or on its neighbours."""

from collections.abc import Iterator

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.base import attempt
from gnomon.doctor.evidence.calling import Model, model
from gnomon.doctor.evidence.component import component
from gnomon.doctor.evidence.noise import difference
from gnomon.doctor.thresholds import OUTPUT
from gnomon.report.document import Finding, Measured

BATCH, LENGTH = 3, 11  # batch and length differ: adding along the wrong axis hides when they are equal

QUANTISED = "torch.ao.nn.quantized.dynamic"


@check("PE305", "batch-rows", severity="error", needs=(model,))
def batch_rows(subject: Subject) -> Iterator[Finding | Measured]:
    """Equal rows of a batch give different results, or a row alone gives another result than in a batch.

    Why: positions added along the batch axis (sequence-first code fed batch-first tensors) give row 0 position 0, row
    1 position 1, and every token of a row the same position. Shapes fit by broadcasting and training runs; only a
    batch of equal rows shows it. State kept between calls shows in the same test.

    Fix: index the table by the sequence axis: for (batch, sequence, width) add `table[positions]`, not `table[:batch]`.

    Sources: PyTorch's sequence-first transformer tutorial, whose encoding is often used with batch-first models; mlx
    issues 3494 and 3795 (rows after the first wrong).
    """
    probe = model(subject)
    row = probe.draw(1, probe.length(LENGTH), seed=31)
    rows = row.expand(BATCH, *row.shape[1:]).contiguous()
    alike = probe(rows)
    if alike.ndim == 0:
        raise MissingEvidence("the forward gives one number for the whole batch, as a loss")
    again = difference(alike, probe(rows))
    yield Measured("difference between two calls", again, probe.tolerance, OUTPUT.why)
    if again > probe.tolerance:
        yield Finding(
            "the forward",
            f"the same input gives outputs that differ by {again:.2g} of their size when called twice",
            "look for state kept between calls (a position counter that is not reset), or randomness in eval mode",
            {"difference": again},
        )
        return
    between = difference(alike[:1].expand_as(alike), alike)
    yield Measured("difference between equal rows", between, probe.tolerance, OUTPUT.why)
    if between > probe.tolerance and attempt(component, subject) is not None:
        raise MissingEvidence("a bare position module: which axis of the data is the sequence, only the data can say")
    if between > probe.tolerance:
        yield Finding(
            "the batch axis",
            f"equal rows of a batch differ by {between:.2g} of the output's size: positions follow the batch axis",
            "add the encoding along the sequence axis (dimension 1 of batch-first tensors), the same for every row",
            {"difference": between},
        )
        return
    yield from _one_token(probe)
    if any(type(part).__module__.startswith(QUANTISED) for part in probe.module.modules()):
        raise MissingEvidence("layers that are quantised on the fly take one scale from the whole batch")
    mixed = probe(probe.draw(BATCH, probe.length(LENGTH), seed=32).index_copy(0, row.new_tensor([1]).long(), row))
    alone = difference(probe(row), mixed[1:2])
    yield Measured("difference between a row alone and in a batch", alone, probe.tolerance, OUTPUT.why)
    if alone > probe.tolerance:
        yield Finding(
            "the batch axis",
            f"a row alone differs by {alone:.2g} of the output's size from the same row in a batch",
            "look for state kept between calls, or positions derived from the batch's shape",
            {"difference": alone},
        )


def _one_token(probe: Model) -> Iterator[Finding | Measured]:
    """Equal rows of one token, as in decoding: another path of many a kernel and module."""
    row = probe.draw(1, 1, seed=33)
    try:
        alike = probe(row.expand(BATCH, *row.shape[1:]).contiguous())
    except MissingEvidence:  # too short for a convolution
        return
    between = difference(alike[:1].expand_as(alike), alike)
    yield Measured("difference between equal rows of one token", between, probe.tolerance, OUTPUT.why)
    if between > probe.tolerance:
        yield Finding(
            "the batch axis",
            f"equal rows of one token each differ by {between:.2g} of the output's size: a path for a single token "
            "leaves rows out",
            "on the path for one token too, go over every row of the batch",
            {"difference": between},
        )
