"""PE402: padding on the right changes the result of the tokens before it."""

from collections.abc import Iterator

from gnomon.adapters.subject import Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.calling import model
from gnomon.doctor.evidence.noise import difference
from gnomon.doctor.evidence.order import require_sequence
from gnomon.doctor.evidence.padding import PADS, pad_token, padded_on_the_right
from gnomon.doctor.thresholds import OUTPUT
from gnomon.report.document import Finding, Measured


@check("PE402", "right-padding", severity="error", needs=(model,))
def right_padding(subject: Subject) -> Iterator[Finding | Measured]:
    """A row padded on the right gives other outputs than the same row without padding.

    Why: batches for training and for encoders are padded on the right. The padded keys must be masked out; a bias or a
    position scheme that depends on the padded length lets them leak into every real token.

    Fix: mask padded keys on every attention path, and derive nothing about positions from the padded length.

    Sources: optimum pull request 2326 (a bias built without the batch's padding); transformers issue 29419 (not a
    fault: rounding in half precision only).
    """
    probe = model(subject)
    alone, padded, mask = padded_on_the_right(probe, pad_token(subject))
    expected = probe(alone)
    output = probe(padded, mask=mask)
    require_sequence(expected, alone.shape[1])
    require_sequence(output, padded.shape[1])
    effect = difference(expected, output[:, :-PADS])
    yield Measured("effect of right padding", effect, probe.tolerance, OUTPUT.why)
    if effect > probe.tolerance:
        yield Finding(
            "the forward",
            f"right padding changes the outputs of real tokens by {effect:.2g} of their size",
            "mask padded keys on every attention path; derive no position from the padded length",
            {"effect": effect, "pads": PADS},
        )
