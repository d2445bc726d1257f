"""PE403: decoding through a cache gives other outputs than one pass."""

from collections.abc import Iterator

from torch import Tensor

from gnomon import positions as position_ids
from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.base import attempt
from gnomon.doctor.evidence.calling import Model, model
from gnomon.doctor.evidence.decoded import effect_of, misplaced
from gnomon.doctor.evidence.decoding import Way, decoding
from gnomon.doctor.evidence.interleaved import effect_of_turns
from gnomon.doctor.evidence.noise import difference, shift_tolerance
from gnomon.doctor.evidence.padding import PADS, pad_token, padded_on_the_left
from gnomon.doctor.evidence.signature import DECODER
from gnomon.doctor.evidence.slots import window
from gnomon.report.document import Finding, Measured, Severity

LENGTH = 9
FAR = 262  # bfloat16 holds integers to 256: an index that is cast to it stands still from there on


@check("PE403", "step-equals-full", severity="error", needs=(model, decoding))
def step_equals_full(subject: Subject) -> Iterator[Finding | Measured]:
    """Feeding tokens step by step, or in chunks, through the cache differs from feeding them at once.

    Why: with a cache the new token's position is the number of tokens before it. A forward that restarts at 0, an
    offset that is advanced twice or by one for several tokens, a bias built for query position 0, keys rotated a second
    time when read, or frequencies that change with the length all decode fluently and wrongly, while evaluation in one
    pass looks right. An offset that the module counts itself is right for one text and wrong for two at a time.

    Fix: positions of new tokens start at the cache's length (gnomon.positions.after); rotate keys once, when they are
    stored; build a bias and a causal mask for the query positions in use; rescale cached keys when frequencies change.

    Sources: transformers issues 25104 (dynamic scaling), 33129 (LongRoPE's switch), 18104 (padding counted in the
    second call), 30068 (several accepted tokens advanced by one); candle pull request 899 (T5's bias for query 0);
    microsoft/onnxruntime-genai#2354 and skyzh/tiny-llm#46 (offsets that run ahead).
    """
    probe, way = model(subject), decoding(subject)
    if way.refuses_batches:
        yield Finding(
            "the cache",
            f"one row decodes, two rows do not: {way.refuses_batches}",
            "give offsets that differ by row a time axis: positions are offsets[:, None] + arange(new), of shape "
            "(batch, new)",
        )
        return
    length, far = probe.length(LENGTH), probe.length(FAR)
    plans = list(_plans(length).items())
    if far > 2 * length:
        plans.append((f"token by token after a prompt of {far - 3} tokens", [far - 3, 1, 1, 1]))
    for plan, chunks in plans:
        content = probe.draw(2 if sum(chunks) == length else 1, sum(chunks), seed=71)
        limit = shift_tolerance(probe.tolerance, sum(chunks))
        effect = effect_of(probe, way, content, probe(content), chunks)
        if effect is None:
            continue
        yield Measured(f"{plan} against one pass", effect, limit, "relative to the outputs")
        if effect > limit:
            _require_whole_memory(subject, sum(chunks))
            yield _finding(probe, way, content, plan, chunks, effect)
            return
    limit = shift_tolerance(probe.tolerance, length)
    yield from _in_turn(probe, way, limit)
    yield from _padded(subject, probe, way, limit)


def _require_whole_memory(subject: Subject, fed: int) -> None:
    """Raise MissingEvidence when the cache drops tokens on purpose, so that decoding must differ from one pass."""
    found = attempt(window, subject)
    if found is not None and found.tokens < fed:
        raise MissingEvidence(f"the cache holds {found.tokens} tokens and drops older ones; PE412 examines it")


def _plans(length: int) -> dict[str, list[int]]:
    half = length // 2
    return {
        "one token at a time": [1] * length,
        "token by token after a prompt": [half, *[1] * (length - half)],
        "in chunks": [half, 1, length - half - 1],
        "in chunks of three tokens": [*[3] * (length // 3), *([length % 3] if length % 3 else [])],
    }


def _finding(probe: Model, way: Way, content: Tensor, plan: str, chunks: list[int], effect: float) -> Finding:
    used = misplaced(probe, way, content, chunks)
    severity: Severity = "error"
    fix = "start the positions of new tokens at the cache's length, in biases too, and rotate keys once"
    if plan.startswith("in chunks"):
        fix = (
            "with several new tokens after a cache, advance the position and the causal mask by each of them: query i "
            "of a call sees the cached keys and the new keys up to i"
        )
        # A model without padding and position ids may never be meant to take more than one token after the prompt.
        severity = "error" if used or probe.signature.mask or probe.signature.positions else "warning"
    return Finding(
        "the cache",
        f"decoding {plan} differs from one pass by {effect:.2g} of the output's size" + (f"; {used}" if used else ""),
        fix,
        {"effect": effect, "chunks": str(chunks)},
        severity=severity,
    )


def _in_turn(probe: Model, way: Way, limit: float) -> Iterator[Finding | Measured]:
    """Two texts, each with its own cache: what the module itself remembers is then of the other text."""
    effect = effect_of_turns(probe, way)
    if effect is None:
        return
    yield Measured("two texts decoded in turn against one pass over each", effect, limit, "relative to the outputs")
    if effect > limit:
        yield Finding(
            "the cache",
            f"two texts decoded in turn, each with its own cache, differ from one pass by {effect:.2g} of its size: "
            "the module keeps an offset of the text that came last",
            "read the number of past tokens off the cache that is passed, not off an attribute of the module",
            {"effect": effect},
        )


def _padded(subject: Subject, probe: Model, way: Way, limit: float) -> Iterator[Finding | Measured]:
    """Left padding with a cache, in two plans."""
    if probe.signature.mask is None:
        return
    try:
        alone, padded, mask = padded_on_the_left(probe, pad_token(subject))
    except MissingEvidence:
        return
    ids = position_ids.from_mask(mask) if probe.signature.positions else None
    expected = probe(alone, positions=None if ids is None else ids[:, PADS:])
    steps = padded.shape[1] - PADS
    plans = {"step by step": [PADS + 1, *[1] * (steps - 1)], "in chunks": [PADS + 2, *_halves(steps - 2)]}
    for plan, chunks in plans.items():
        try:
            together = way.fed(probe, padded, chunks, mask=mask, positions=ids)[:, PADS:]
        except MissingEvidence:
            continue
        effect = difference(expected, together)
        yield Measured(f"left-padded, {plan}, against one pass alone", effect, limit, "relative to the outputs")
        if effect > limit:
            yield Finding(
                "the cache",
                f"a left-padded batch decoded {plan} differs from its rows alone by {effect:.2g} of their size",
                "keep mask and position ids of cached slots: the next position is the number of real tokens so far, "
                "for each row (gnomon.positions.after_mask)",
                {"effect": effect, "pads": PADS},
                severity=_severity(probe, ids is not None or _is_right_at_once(probe, expected, padded, mask)),
            )
            return


def _severity(probe: Model, heeds_padding: bool) -> Severity:
    """The decoder of an encoder-decoder is padded on the right as a rule, and may count its slots."""
    if probe.signature.content in DECODER:
        return "warning" if heeds_padding else "note"
    return "error" if heeds_padding else "warning"


def _is_right_at_once(probe: Model, expected: Tensor, padded: Tensor, mask: Tensor) -> bool:
    """Whether one pass heeds padding with the mask alone, so that decoding should."""
    return difference(expected, probe(padded, mask=mask)[:, PADS:]) <= shift_tolerance(probe.tolerance, mask.shape[1])


def _halves(count: int) -> list[int]:
    return [part for part in (count // 2, count - count // 2) if part]
