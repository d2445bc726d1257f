"""PE510: the loss rises with position, as beyond the length a model was trained for."""

from collections.abc import Iterator

from gnomon.adapters.subject import Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.loss_by_position import loss_by_position
from gnomon.report.document import Finding, Measured

RISE = 0.3  # nats: perplexity grows by a third
SURE = 4.0  # standard errors of the difference


@check("PE510", "loss-by-position", severity="warning", needs=(loss_by_position,))
def loss_rises_with_position(subject: Subject) -> Iterator[Finding | Measured]:
    """On the text given, later tokens are predicted worse than earlier ones.

    Why: more context helps or does nothing, so the loss of a sound model falls with position and then stays level. It
    rises where positions are new to the model: rows that training never reached, angles beyond the trained length, a
    scaling rule that is not the one of training. The place of the rise is the length that can be used.

    Fix: keep inputs below the place of the rise, apply the scaling that the model was trained with, or train on longer
    texts.

    Sources: Press et al. 2022, arXiv:2108.12409, section 2 (perplexity against length beyond training).
    """
    found = loss_by_position(subject)
    best = found[0]
    for bucket in found:
        name = f"loss at positions {bucket.start} to {bucket.stop - 1}"
        yield Measured(name, round(bucket.mean, 4), round(best.mean + RISE, 4), f"{RISE} nats above the best before")
        if bucket.mean < best.mean:
            best = bucket
        sure = SURE * (bucket.error**2 + best.error**2) ** 0.5
        if bucket.mean - best.mean > max(RISE, sure):
            yield Finding(
                f"positions from {bucket.start}",
                f"the loss is {best.mean:.2f} at positions {best.start} to {best.stop - 1} and {bucket.mean:.2f} at"
                f" {bucket.start} to {bucket.stop - 1}",
                f"keep inputs to about {bucket.start} tokens, or use the scaling and the lengths of training",
                {"best loss": best.mean, "loss": bucket.mean, "usable length": bucket.start},
            )
            return
