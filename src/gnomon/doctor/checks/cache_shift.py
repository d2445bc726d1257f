"""PE415: moving cached keys to other positions wears them out, or stretches them."""

import copy
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.adapters.wording import said
from gnomon.doctor.check import check
from gnomon.doctor.evidence.calling import Model, model
from gnomon.doctor.evidence.decoding import Way, decoding
from gnomon.doctor.evidence.noise import difference
from gnomon.doctor.evidence.slots import tensors_of
from gnomon.report.document import Finding, Measured

METHODS = ("shift", "shift_positions", "shift_keys", "context_shift", "rerotate", "re_rotate")
TIMES, STEP, LENGTH = 100, -10, 8
STRETCH = 0.02  # of the length of the keys; a rotation keeps it, rounding to bfloat16 to 4e-3


@check("PE415", "cache-shift", severity="error", needs=(model, decoding))
def cache_shift(subject: Subject) -> Iterator[Finding | Measured]:
    """Cached keys that are moved again and again differ from keys moved once, or change their length.

    Why: when a context is full, engines drop old tokens and turn the remaining keys back by as many positions. Each
    turn rounds; in bfloat16 a hundred of them in place cost 0.66 of a key's size where one costs 0.016. And if the turn
    also multiplies by the scaling's attention factor, every shift stretches the keys.

    Fix: keep keys as they were stored, with the sum of all moves, and turn them once from there; turn by plain
    rotation, without the attention factor.

    Sources: vllm-project/vllm#57672 and ggml-org/llama.cpp#4097 (drift of shifted keys), ggml-org/llama.cpp#17945
    (attention factor in the graph and not in the shift).
    """
    probe, way = model(subject), decoding(subject)
    before, once = _keys(probe, way, []), _keys(probe, way, [TIMES * STEP])
    stretch = float(once.norm() / before.norm())
    yield Measured("length of the keys after one shift", stretch, 1 + STRETCH, "relative; a rotation keeps it")
    if abs(stretch - 1) > STRETCH:
        yield Finding(
            "the cache",
            f"shifting by {TIMES * STEP} positions multiplies the length of cached keys by {stretch:.4g}",
            "turn keys by the plain rotation, factor 1.0: the attention factor was applied when they were stored",
            {"stretch": stretch},
        )
        return
    for dtype in dict.fromkeys((probe.dtype, torch.bfloat16)):
        yield from _drift(probe if dtype == probe.dtype else probe.cast(dtype), way, dtype, dtype == probe.dtype)


def _drift(probe: Model, way: Way, dtype: torch.dtype, own: bool) -> Iterator[Finding | Measured]:
    """Many small shifts against one, in one dtype: the model's own, or the one that caches are kept in as a rule."""
    try:
        effect = difference(_keys(probe, way, [TIMES * STEP]), _keys(probe, way, [STEP] * TIMES))
    except MissingEvidence:
        if own:
            raise
        return
    name = f"{TIMES} shifts by {STEP} against one by {TIMES * STEP}, {str(dtype).removeprefix('torch.')}"
    yield Measured(name, effect, probe.tolerance, "relative to the keys")
    if effect > probe.tolerance:
        yield Finding(
            "the cache",
            f"in {dtype} {TIMES} shifts by {STEP} give keys that differ by {effect:.2g} of their size from one "
            f"shift by {TIMES * STEP}",
            "keep the keys as they were stored and turn them once by the sum of all shifts, or keep them in float32",
            {"drift": effect},
            severity="error" if own else "warning",
        )


def _keys(probe: Model, way: Way, shifts: list[int]) -> Tensor:
    """The cached tensors that a shift moves, after these shifts, flat and in float64."""
    session = way.open(probe, 1)
    session.feed(probe.draw(1, probe.length(LENGTH), seed=161))
    cache = session.memory.cache
    name = next((name for name in METHODS if callable(getattr(cache, name, None))), None)
    if name is None:
        raise MissingEvidence("the cache offers no method to move its keys to other positions")
    try:
        with torch.no_grad():
            moved = _moved(copy.deepcopy(cache), name)
            for by in shifts:
                getattr(cache, name)(by)
    except Exception as error:
        raise MissingEvidence(f"the cache cannot be shifted: {said(error)}") from error
    if not moved:
        raise MissingEvidence(f"{name} changes no tensor of the cache")
    held = list(tensors_of(cache))
    return torch.cat([held[i].flatten().double() for i in moved])


def _moved(cache: Any, name: str) -> list[int]:
    """Which of its tensors a shift changes: keys, and no values."""
    before = [tensor.clone() for tensor in tensors_of(cache)]
    getattr(cache, name)(1)
    after = list(tensors_of(cache))
    return [i for i, old in enumerate(before) if not torch.equal(old, after[i])]
