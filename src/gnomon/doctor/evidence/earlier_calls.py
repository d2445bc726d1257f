"""What a call leaves behind: in the tensors it was given, and in the results of the calls after it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.evidence.base import evidence
from gnomon.doctor.evidence.calling import Model, model, never_run
from gnomon.doctor.evidence.light_copy import light_copy
from gnomon.doctor.evidence.noise import difference

SHORT, LONG, OFFSET = 6, 40, 5
BEYOND = 5  # places past a stated limit, where scaling rules switch
LONGEST = 300  # tokens: what a limit may be to be gone beyond

Call = Callable[[Model], Tensor]


@dataclass(frozen=True)
class Left:
    """How far a call is from the same call on a copy that has never run, after an earlier call of this kind."""

    earlier: str
    difference: float


@evidence
def earlier_calls(subject: Subject) -> tuple[Left, ...]:
    """The effect of earlier calls of other lengths, batches and position ids, each on copies of its own."""
    fresh, probe = never_run(subject), model(subject)
    if _is_random(probe):
        raise MissingEvidence("the forward gives another result on every call (PE305)")
    return tuple(
        Left(name, _apart(fresh, earlier, later))
        for name, earlier, later in _cases(model(subject))
        if _runs(model(subject), earlier)
    )


def _is_random(probe: Model) -> bool:
    """Whether two calls differ of themselves, as those of a masked autoencoder, which draws its mask."""
    content = probe.draw(2, 0 if probe.takes_images else probe.length(SHORT), seed=81)
    return difference(probe(content.clone()), probe(content.clone())) > probe.tolerance


def _apart(untouched: Model, earlier: Call, later: Call) -> float:
    used, fresh = light_copy(untouched), light_copy(untouched)
    earlier(used)
    after, alone = later(used), later(fresh)
    return difference(after, alone) if after.shape == alone.shape else float("inf")


def _cases(probe: Model) -> Iterator[tuple[str, Call, Call]]:
    if probe.takes_images:
        yield "a larger batch", _content(probe, 4, 0), _content(probe, 2, 0)
        return
    short, long = probe.length(SHORT), probe.length(LONG)
    if short < 3:
        raise MissingEvidence(f"the model takes {short} places, too few for calls of two lengths")
    yield "a larger batch", _content(probe, 4, short), _content(probe, 2, short)
    if long > short:
        yield "a longer input", _content(probe, 2, long), _content(probe, 2, short)
        yield "a shorter input", _content(probe, 2, short), _content(probe, 2, long)
    if SHORT < probe.limit <= LONGEST:
        longest = _content(probe, 1, probe.limit + BEYOND)
        yield "an input longer than the stated limit", longest, _content(probe, 2, short)
    if probe.signature.positions is not None and probe.reach(short + OFFSET) >= short + OFFSET:
        yield "other position ids", _content(probe, 2, short, offset=0), _content(probe, 2, short, offset=OFFSET)


def _content(probe: Model, batch: int, length: int, offset: int | None = None) -> Call:
    content = probe.draw(batch, length, seed=81)
    if offset is None:
        return lambda run: run(content.clone())
    ids = torch.arange(offset, offset + length, device=content.device)[None].expand(batch, -1).contiguous()
    return lambda run: run(content.clone(), positions=ids.clone())


def _runs(probe: Model, call: Call) -> bool:
    """Whether the call runs at all; what one beyond a limit says is another check's matter."""
    try:
        call(probe)
    except MissingEvidence:
        return False
    return True


def changed_arguments(probe: Model) -> Iterator[tuple[str, Tensor, Tensor]]:
    """Each tensor that a forward wrote into: name of the argument, values before and after."""
    names = probe.signature
    content = probe.draw(2, 0 if probe.takes_images else probe.length(SHORT), seed=82)
    whole = torch.ones(content.shape[:2], dtype=torch.int64, device=content.device)
    given = {names.content: content}
    if names.mask is not None:
        given[names.mask] = names.mask_form.of(whole)
    if names.positions is not None:
        given[names.positions] = whole.cumsum(1) - 1
    before = {name: value.clone() for name, value in given.items()}
    with torch.no_grad():
        probe.forward(content, **{name: value for name, value in given.items() if name != names.content})
    for name, value in given.items():
        if not torch.equal(value, before[name]):
            yield name, before[name], value


def changed_buffers(subject: Subject) -> Iterator[str]:
    """Integer buffers, as tables of positions are, that two forwards overwrite with other values."""
    probe = never_run(subject)
    content = probe.draw(2, 0 if probe.takes_images else probe.length(SHORT), seed=83)
    probe(content)
    before = {name: buffer.clone() for name, buffer in _integers(probe)}
    probe(content)
    for name, buffer in _integers(probe):
        if name in before and buffer.shape == before[name].shape and not torch.equal(buffer, before[name]):
            yield name


def _integers(probe: Model) -> Iterator[tuple[str, Tensor]]:
    return ((n, b) for n, b in probe.module.named_buffers() if not b.is_floating_point() and not b.is_complex())
