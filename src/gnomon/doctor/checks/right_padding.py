"""PE402: padding on the right changes the result of the tokens before it."""

from collections.abc import Iterator

from torch import Tensor

from gnomon.adapters.subject import Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.attending import attention_calls
from gnomon.doctor.evidence.calling import Model, model
from gnomon.doctor.evidence.noise import difference
from gnomon.doctor.evidence.order import require_sequence
from gnomon.doctor.evidence.padding import PADS, pad_token, padded_on_the_right
from gnomon.doctor.evidence.trace import trace_forward
from gnomon.doctor.thresholds import OUTPUT
from gnomon.report.document import Finding, Measured


@check("PE402", "right-padding", severity="error", needs=(model,))
def right_padding(subject: Subject) -> Iterator[Finding | Measured]:
    """A row padded on the right gives other outputs than the same row without padding.

    Why: batches for training and for encoders are padded on the right. The padded keys must be masked out; a bias or a
    position scheme that depends on the padded length lets them leak into every real token.

    A warning where attention hides padding and something else sees it: a convolution or a pooling mixes neighbours.

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
    if effect <= probe.tolerance:
        return
    what = f"right padding changes the outputs of real tokens by {effect:.2g} of their size"
    if not _through_attention(probe, alone, padded, mask):
        yield Finding(
            "the forward",
            f"{what}, though every attention hides it: a convolution, a pooling or another mixer of neighbours sees it",
            "set padded vectors to zero before whatever mixes neighbours, or pad every batch to the same length",
            {"effect": effect, "pads": PADS},
            severity="warning",
        )
        return
    yield Finding(
        "the forward",
        what,
        "mask padded keys on every attention path; derive no position from the padded length",
        {"effect": effect, "pads": PADS},
    )


def _through_attention(probe: Model, alone: Tensor, padded: Tensor, mask: Tensor) -> bool:
    """Whether an attention sees padded keys, or the first of them scores real tokens otherwise than without padding.

    True as well where attentions are seen whose keys cannot be told.
    """
    length, real = padded.shape[1], alone.shape[1]
    calls = [c for c in attention_calls(probe, padded, mask=mask) if c.logits.shape[1:] == (length, length)]
    if not calls:
        return trace_forward(probe, padded, mask=mask).attentions > 0
    if any(bool(call.logits[:, :real, real:].isfinite().any()) for call in calls):
        return True
    before = [c for c in attention_calls(probe, alone) if c.logits.shape[1:] == (real, real)]
    if not before:
        return True
    first, scored = before[0].logits, calls[0].logits[:, :real, :real]
    hidden = first.isinf()
    return first.shape != scored.shape or (
        difference(first.masked_fill(hidden, 0.0), scored.masked_fill(hidden, 0.0)) > probe.tolerance
    )
