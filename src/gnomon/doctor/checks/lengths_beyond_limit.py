"""PE701: inputs in use are longer than the model can take."""

from collections.abc import Iterator

import numpy as np

from gnomon.adapters.subject import Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.length_limits import length_limits
from gnomon.doctor.evidence.lengths import lengths_in_use
from gnomon.report.document import Finding, Measured

FEW = 0.01  # share of inputs


@check("PE701", "lengths-beyond-limit", severity="warning", needs=(lengths_in_use, length_limits))
def lengths_beyond_limit(subject: Subject) -> Iterator[Finding | Measured]:
    """More than one input in a hundred has more tokens than the model has positions.

    Why: beyond a table there is no row: the input is cut, or it ends in an index error (on a GPU a device assert).
    Beyond the stated length of a rotary model it runs on, at angles it never saw. What truncation takes away is the end
    of each long text, and a mean over inputs does not show it.

    Fix: split long inputs, choose a model with a longer limit, or extend this one and train it on; truncate knowingly.

    Sources: bentrevett/pytorch-seq2seq issue 89, fairseq issue 757, transformers issue 14243 (index errors at a limit).
    """
    used, limit = lengths_in_use(subject), length_limits(subject)[0]
    beyond = int((used > limit.tokens).sum())
    lost = float(np.clip(used - limit.tokens, 0, None).sum() / max(used.sum(), 1))
    share = beyond / len(used)
    yield Measured("inputs longer than the limit", round(share, 4), FEW, f"{limit.tokens} tokens, {limit.where}")
    yield Measured("tokens beyond the limit", round(lost, 4), None, "lost when inputs are cut")
    yield Measured("longest input", int(used.max()), limit.tokens, "the limit")
    if beyond:
        yield Finding(
            limit.where,
            f"{beyond} of {len(used)} inputs ({share:.1%}) have more than {limit.tokens} tokens, up to"
            f" {int(used.max())}: "
            + ("they are cut or fail" if limit.hard else "they run at positions beyond the stated length"),
            f"split or cut inputs to {limit.tokens} tokens ({lost:.1%} of all tokens lie beyond), or extend the model",
            {"limit": limit.tokens, "longest": int(used.max()), "share": share, "tokens lost": lost},
            severity="note" if share < FEW else None,
        )
