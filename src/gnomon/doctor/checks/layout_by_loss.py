"""PE220: trained weights predict text better when their query and key rows are moved to the other layout."""

from collections.abc import Iterator

from gnomon.adapters.subject import Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.layout_loss import layout_loss
from gnomon.doctor.evidence.query_key_rows import heads
from gnomon.report.document import Finding, Measured

CLEAR = 0.1  # nats a token; a wrong layout of a small real model costs more than 1
SURE = 4.0  # standard errors
WHY = "a model whose rows fit its rotation loses by any move; what it may gain by chance is below this"


@check("PE220", "layout-by-loss", severity="error", needs=(layout_loss,), heavy=True)
def layout_by_loss(subject: Subject) -> Iterator[Finding | Measured]:
    """The weights predict real text clearly better when the rows of queries and keys are gathered to other pairs.

    Why: weights that were trained with neighbouring pairs and run with halves (or the other way round) still write
    fluent nonsense: only their loss tells, on any text of the language they know. Where the layout is right, moving the
    rows always costs.

    Fix: gather the rows of queries and keys once, when converting, or switch the rotation to the pairs of training.

    Sources: huggingface/nanotron#427, nurl-lang/nurl#584. Measured on SmolLM2-135M: the right layout has the lower loss
    by more than 1 nat a token on a paragraph of English.
    """
    loss = layout_loss(subject)
    yield Measured("loss as it is", loss.plain, None, f"nats a token, over {loss.tokens} tokens")
    for how, fall in loss.falls.items():
        limit = max(CLEAR, SURE * loss.errors[how])
        yield Measured(f"fall of the loss when gathered to {how}", fall, limit, WHY)
        if fall > limit:
            gather = heads(subject).rows_of(how, heads(subject).width).tolist()
            yield Finding(
                "queries and keys",
                f"the loss falls from {loss.plain:.3g} to {loss.plain - fall:.3g} when the rows of {loss.projections} "
                f"projections are gathered to {'halves' if how == 'half' else 'neighbouring pairs'}",
                f"gather the rows of each head by {str(gather[:16]).rstrip(']')}{', ...' if len(gather) > 16 else ''}] "
                "when converting the weights, or rotate the other pairs",
                {"loss": loss.plain, "fall": fall, "layout": how},
            )
