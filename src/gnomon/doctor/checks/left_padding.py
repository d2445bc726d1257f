"""PE401: padding on the left changes the result of the tokens after it."""

from collections.abc import Iterator

import torch

from gnomon import positions as position_ids
from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.calling import model
from gnomon.doctor.evidence.noise import difference, shift_tolerance
from gnomon.doctor.evidence.order import causality
from gnomon.doctor.evidence.padding import LENGTH, PADS, pad_token, padded_on_the_left
from gnomon.doctor.evidence.trace import require_attention
from gnomon.report.document import Finding, Measured


@check("PE401", "left-padding", severity="error", needs=(model, causality))
def left_padding(subject: Subject) -> Iterator[Finding | Measured]:
    """A row padded on the left gives other outputs than the same row without padding.

    Why: generation in batches pads on the left, so that every row ends in a real token. Ids counted over slots give the
    first real token position 4 instead of 0; absolute encodings then read the wrong rows. Relative encodings survive a
    uniform shift, but not a mask that is dropped.

    Fix: derive ids from the mask (gnomon.positions.from_mask: the number of real tokens before each) and pass them
    with the mask; the model must heed both.

    Sources: transformers issue 21080 and pull request 29583 (GPT-2 in a bare forward still counts padding), trl issue
    469.
    """
    probe = model(subject)
    if not causality(subject).causal:
        raise MissingEvidence("the model looks both ways; such models are padded on the right (PE402)")
    require_attention(subject)
    content, padded, mask = padded_on_the_left(probe, pad_token(subject))
    alone = probe(content)
    limit = shift_tolerance(probe.tolerance, probe.length(LENGTH) + PADS)
    given = None
    if probe.signature.positions is not None:
        counted = position_ids.from_mask(torch.ones_like(mask[:, PADS:]))
        padded_ids = position_ids.from_mask(mask)
        given = difference(probe(content, positions=counted), probe(padded, mask=mask, positions=padded_ids)[:, PADS:])
        yield Measured("effect of left padding, ids from the mask passed", given, limit, "relative to the outputs")
        if given > limit:
            yield Finding(
                "the forward",
                f"with mask and position ids passed, left padding still changes outputs by {given:.2g} of their size",
                "use the position ids that are passed, and mask out padded keys on every attention path",
                {"effect": given, "pads": PADS},
            )
            return
    bare = difference(alone, probe(padded, mask=mask)[:, PADS:])
    yield Measured("effect of left padding, only the mask passed", bare, limit, "relative to the outputs")
    if bare > limit:
        yield Finding(
            "the forward",
            f"with only the mask passed, left padding changes outputs by {bare:.2g} of their size: padding is counted",
            "derive position ids from the mask"
            + ("; until then pass position_ids yourself" if given is not None else ""),
            {"effect": bare, "pads": PADS},
            severity="error" if given is None else "warning",
        )
