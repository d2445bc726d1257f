"""PE412: a cache that drops old tokens does not settle: its positions drift or run out, or chunks change its size."""

from collections.abc import Iterator

import torch
from torch import Tensor

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.calling import Model, model
from gnomon.doctor.evidence.decoding import Way, decoding
from gnomon.doctor.evidence.noise import difference, shift_tolerance
from gnomon.doctor.evidence.slots import Window, held, window
from gnomon.doctor.evidence.trace import trace
from gnomon.report.document import Finding, Measured

PERIOD, LONGEST = 3, 240  # tokens


@check("PE412", "window-is-steady", severity="error", needs=(model, decoding, window))
def window_is_steady(subject: Subject) -> Iterator[Finding | Measured]:
    """With a cache of bounded size, a text that repeats itself does not come to give outputs that repeat.

    Why: a window that drops old tokens, with or without a few first ones that stay, sees the same thing again once a
    repeated text fills it. If the outputs still change, positions in the window are not consecutive: new keys keep
    their place in the whole text while the kept ones are moved. If decoding stops with an error, positions ran past a
    table that is as long as the window. And the size of the window may not depend on how the text was cut into chunks.

    Fix: positions of a window count from 0 (or from the first kept token) at every step, for new keys as for kept ones;
    cut the memory to the configured length after each call, whatever its length was.

    Sources: transformers pull request 33691 (a sink cache whose new keys kept their absolute angle), issue 32233 (ids
    beyond the evicted table), issue 2970 (Transformer-XL's memory took the length of the query).
    """
    probe, way, found = model(subject), decoding(subject), window(subject)
    steps = min(found.tokens * (trace(subject).attentions + 2) + 2 * PERIOD, LONGEST)
    tokens = probe.draw(1, PERIOD, seed=142)
    outputs, reason = _stream(probe, way, tokens, steps)
    if reason:
        yield Finding(
            "the cache",
            f"the cache holds {found.tokens} tokens, yet decoding fails after {outputs.shape[1]}: {reason}",
            "count positions within the window, so that none is beyond its table",
            {"window": found.tokens, "failed after": outputs.shape[1]},
        )
        return
    effect = difference(outputs[:, -2 * PERIOD : -PERIOD], outputs[:, -PERIOD:])
    limit = shift_tolerance(probe.tolerance, steps)
    yield Measured("change from one repetition to the next", effect, limit, "relative to the outputs")
    if effect > limit:
        yield Finding(
            "the cache",
            f"after {steps} tokens of a text that repeats every {PERIOD}, outputs still change by {effect:.2g} of "
            f"their size from one repetition to the next, though the cache holds {found.tokens} tokens",
            "give kept and new keys consecutive positions in the window, at each step",
            {"effect": effect, "window": found.tokens},
        )
        return
    yield from _chunked(probe, way, found)


def _stream(probe: Model, way: Way, tokens: Tensor, steps: int) -> tuple[Tensor, str]:
    """Outputs of a repeated text fed one token at a time, and why it stopped early, if it did."""
    session, outputs = way.open(probe, 1), []
    for i in range(steps):
        try:
            outputs.append(session.feed(tokens[:, i % PERIOD : i % PERIOD + 1]))
        except MissingEvidence as refused:
            return torch.cat(outputs, dim=1), str(refused)
    return torch.cat(outputs, dim=1), ""


def _chunked(probe: Model, way: Way, found: Window) -> Iterator[Finding | Measured]:
    """What the cache holds after chunks longer and shorter than it."""
    shares = {}
    for size in (found.tokens + 2, max(2, found.tokens // 2)):
        session = way.open(probe, 1)
        try:
            for i in range(4):
                session.feed(probe.draw(1, size, seed=143 + i))
        except MissingEvidence:
            continue
        shares[size] = held(session) / found.numbers
        yield Measured(
            f"size of the cache after chunks of {size}", shares[size], 1.0, "of its size after single tokens"
        )
    size, share = min(shares.items(), key=lambda pair: pair[1], default=(0, 1.0))
    if share == 1.0:
        size, share = max(shares.items(), key=lambda pair: pair[1], default=(0, 1.0))
    if share != 1.0:
        yield Finding(
            "the cache",
            f"fed {size} tokens at a time, the cache holds {share * found.tokens:.3g} tokens, and {found.tokens} "
            "when fed one at a time",
            f"cut the memory to the same length after each call: {found.tokens} tokens",
            {"held": share * found.tokens, "window": found.tokens},
            severity="error" if share < 1.0 else "warning",
        )
