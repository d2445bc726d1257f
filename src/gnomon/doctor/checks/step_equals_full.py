"""PE403: decoding through a cache gives other outputs than one pass."""

from collections.abc import Iterator

from gnomon import positions as position_ids
from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.calling import model
from gnomon.doctor.evidence.decoding import decode, require_cache
from gnomon.doctor.evidence.noise import difference, shift_tolerance
from gnomon.doctor.evidence.order import causality
from gnomon.doctor.evidence.padding import PADS, pad_token, padded_on_the_left
from gnomon.doctor.evidence.trace import require_attention
from gnomon.report.document import Finding, Measured

LENGTH = 9


@check("PE403", "step-equals-full", severity="error", needs=(model, causality))
def step_equals_full(subject: Subject) -> Iterator[Finding | Measured]:
    """Feeding tokens step by step, or in chunks, through the cache differs from feeding them at once.

    Why: with a cache the new token's position is the number of tokens before it. A forward that restarts at 0, a bias
    built for query position 0, keys rotated a second time when read, or frequencies that change with the length all
    decode fluently and wrongly, while evaluation in one pass looks right.

    Fix: positions of new tokens start at the cache's length (gnomon.positions.after); rotate keys once, when they are
    stored; build a bias for the query positions in use; rescale cached keys when frequencies change.

    Sources: transformers issues 25104 (dynamic scaling), 33129 (LongRoPE's switch), 18104 (padding counted in the
    second call); candle pull request 899 (T5's bias for query 0).
    """
    probe = model(subject)
    require_cache(probe)
    require_attention(subject)
    if not causality(subject).causal:
        raise MissingEvidence("the model looks both ways; it does not decode step by step")
    length = probe.length(LENGTH)
    content = probe.draw(2, length, seed=71)
    full = probe(content)
    limit = shift_tolerance(probe.tolerance, length)
    plans = {"one token at a time": [1] * length, "in chunks": [length // 2, 1, length - length // 2 - 1]}
    for plan, chunks in plans.items():
        effect = difference(full, decode(probe, content, chunks))
        yield Measured(f"{plan} against one pass", effect, limit, "relative to the outputs")
        if effect > limit:
            yield Finding(
                "the cache",
                f"decoding {plan} differs from one pass by {effect:.2g} of the output's size",
                "start the positions of new tokens at the cache's length, and rotate keys once",
                {"effect": effect, "chunks": str(chunks)},
            )
            return
    if probe.signature.mask is None:
        return
    alone, padded, mask = padded_on_the_left(probe, pad_token(subject))
    ids = position_ids.from_mask(mask) if probe.signature.positions else None
    expected = probe(alone, positions=None if ids is None else ids[:, PADS:])
    steps = padded.shape[1] - PADS
    together = decode(probe, padded, [PADS + 1, *[1] * (steps - 1)], mask=mask, positions=ids)[:, PADS:]
    effect = difference(expected, together)
    yield Measured("left-padded, step by step, against one pass alone", effect, limit, "relative to the outputs")
    if effect > limit:
        yield Finding(
            "the cache",
            f"a left-padded batch decoded step by step differs from its rows alone by {effect:.2g} of their size",
            "keep mask and position ids of cached slots: the next position is the number of real tokens so far",
            {"effect": effect, "pads": PADS},
            severity="error" if ids is not None else "warning",
        )
