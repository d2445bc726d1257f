"""PE407: going on from a cache that was cut back differs from one pass."""

from collections.abc import Iterator

import torch
from torch import Tensor

from gnomon.adapters.subject import Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.cache_edits import cut_back
from gnomon.doctor.evidence.calling import Model, model
from gnomon.doctor.evidence.decoding import Way, decoding
from gnomon.doctor.evidence.noise import difference, shift_tolerance
from gnomon.doctor.evidence.order import other
from gnomon.report.document import Finding, Measured

PROMPT, DRAFT, LENGTH = 4, 3, 9  # tokens


@check("PE407", "cache-rollback", severity="error", needs=(model, decoding))
def cache_rollback(subject: Subject) -> Iterator[Finding | Measured]:
    """After drafted tokens are rejected and the cache is cut back, decoding differs from one pass.

    Why: speculative decoding feeds several drafted tokens, accepts some and cuts the rest from the cache. Where the
    keys are cut but an offset, a mask or stored positions are not, the next token stands behind tokens that are gone.

    Fix: whatever counts slots is cut with the keys; best, positions are derived from the keys that are there.

    Sources: transformers issue 30042 and pull request 30068 (positions after accepted tokens advanced by one).
    """
    probe, way = model(subject), decoding(subject)
    length = probe.length(LENGTH)
    content = probe.draw(2, length, seed=101)
    full, limit = probe(content), shift_tolerance(probe.tolerance, length)
    for accepted in range(min(DRAFT, length - PROMPT - 1) + 1):
        name, output = _after_draft(probe, way, content, accepted)
        kept = PROMPT + accepted
        effect = difference(full[:, kept:], output)
        yield Measured(f"{accepted} of {DRAFT} drafted tokens kept", effect, limit, "relative to the outputs")
        if effect > limit:
            yield Finding(
                "the cache",
                f"cut back by {name} to {PROMPT} tokens and {accepted} of {DRAFT} drafted ones, it goes on "
                f"{effect:.2g} of the output's size away from one pass",
                f"cut offset, mask and stored positions with the keys: the next token has position {kept}",
                {"effect": effect, "kept": kept},
            )
            return


def _after_draft(probe: Model, way: Way, content: Tensor, accepted: int) -> tuple[str, Tensor]:
    """Feed the prompt, then a draft of which the first `accepted` tokens are right, cut back, and go on."""
    draft = content[:, PROMPT : PROMPT + DRAFT].clone()
    draft[:, accepted:] = other(probe, draft)[:, accepted:]
    session = way.open(probe)
    session.feed(content[:, :PROMPT])
    session.feed(draft)
    name = cut_back(session, PROMPT + accepted)
    rest = content[:, PROMPT + accepted :]
    return name, torch.cat([session.feed(rest[:, i : i + 1]) for i in range(rest.shape[1])], dim=1)
