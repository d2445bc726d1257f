"""Frequencies that depend on how long the text is: where they change, and what a cache makes of it."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, final

import torch
from torch import Tensor

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.evidence.base import attempt, evidence
from gnomon.doctor.evidence.calling import Model, model
from gnomon.doctor.evidence.decoding import decoding
from gnomon.doctor.evidence.noise import difference, shift_tolerance

EARLY, LATE = 6, 2  # tokens before and after a change of frequencies
USUAL = (8, 16, 32, 64, 128)  # lengths that are tried where nothing is stated
LONGEST = 300  # tokens of a text that is as long as its positions say


@final
@dataclass(frozen=True)
class Switch:
    """A length and what happens beyond it. `content` and `ids`: a text on both sides of it."""

    length: int
    content: Tensor
    ids: Tensor | None
    early: int  #: tokens on the near side
    moved: float  #: how far the outputs of these moved when the text went on
    limit: float


@evidence
def switch(subject: Subject) -> Switch:
    """The first length, stated or usual, beyond which outputs of earlier tokens change, else the nearest to it."""
    probe = model(subject)
    decoding(subject)
    tried = []
    for length in sorted({*_stated(subject), *USUAL}):
        try:
            found = _tried(probe, length)
        except MissingEvidence:
            continue
        if found is not None and found.moved > found.limit:
            return found
        tried += [found] if found else []
    if not tried:
        raise MissingEvidence("no text of more than one length could be run")
    return max(tried, key=lambda one: one.moved)


def _tried(probe: Model, length: int) -> Switch | None:
    """A text to twice the length, by position ids where they can be passed, against its first part."""
    far, ids, early = 2 * length, None, length
    if probe.signature.positions is not None:
        early = min(EARLY, length)
        ids = torch.cat((torch.arange(early), torch.arange(far - LATE, far)))[None].expand(2, -1).to(probe.device)
    elif far > LONGEST:
        return None
    content = probe.draw(2, far if ids is None else early + LATE, seed=111)
    before = probe(content[:, :early], positions=None if ids is None else ids[:, :early])
    moved = difference(before, probe(content, positions=ids)[:, :early])
    return Switch(length, content, ids, early, moved, shift_tolerance(probe.tolerance, far))


def _stated(subject: Subject) -> Iterator[int]:
    """Lengths that the config names."""
    config: Mapping[str, Any] = attempt(lambda s: s.config, subject) or {}
    yield from _lengths(config.items())


def _lengths(items: Iterable[tuple[str, Any]]) -> Iterator[int]:
    for key, value in items:  # labels have numbers as keys
        if isinstance(value, Mapping):
            yield from _lengths(value.items())
        elif "max_position" in str(key) and isinstance(value, int) and not isinstance(value, bool) and value > 1:
            yield value
