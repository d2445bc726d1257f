"""How much a cache holds, whatever it is made of, and whether it stops growing: then old tokens are dropped."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, final

from torch import Tensor

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.evidence.base import evidence
from gnomon.doctor.evidence.calling import Model, model
from gnomon.doctor.evidence.decoding import Session, Way, decoding

PART, DEPTH = 24, 6  # tokens of each of three chunks; nested objects


@final
@dataclass(frozen=True)
class Window:
    """The number of tokens after which a cache that is fed one by one stops growing, and the numbers it then holds."""

    tokens: int
    numbers: int


@evidence
def window(subject: Subject) -> Window:
    """Raises MissingEvidence for a cache that keeps every token."""
    return bounded(model(subject), decoding(subject))


def bounded(probe: Model, way: Way) -> Window:
    """Feeds three chunks; when the third adds nothing, feeds tokens one by one to see when growth ends."""
    part = min(PART, probe.length(3 * PART) // 3)
    content = probe.draw(1, max(3 * part, 1), seed=141)
    session, sizes = way.open(probe, 1), []
    for i in range(3):
        session.feed(content[:, i * part : (i + 1) * part])
        sizes.append(held(session))
    if not sizes[0] or sizes[2] > sizes[1]:
        raise MissingEvidence(f"the cache keeps every token that it is fed, as far as {3 * part} tokens show")
    session, before = way.open(probe, 1), -1
    for i in range(3 * part):
        session.feed(content[:, i : i + 1])
        if held(session) == before:
            return Window(i, before)
        before = held(session)
    raise MissingEvidence("the cache grows whenever it is fed one token")


def held(session: Session) -> int:
    """Numbers in the tensors of a session's memory."""
    return sum(tensor.numel() for tensor in tensors_of(session.memory.cache))


def tensors_of(cache: Any) -> Iterator[Tensor]:
    """The tensors in a cache, however it nests them."""
    return _tensors(cache, set(), 0)


def _tensors(thing: Any, seen: set[int], depth: int) -> Iterator[Tensor]:
    if id(thing) in seen or depth > DEPTH:
        return
    seen.add(id(thing))
    if isinstance(thing, Tensor):
        yield thing
        return
    parts: Any = ()
    if isinstance(thing, Mapping):
        parts = thing.values()
    elif isinstance(thing, list | tuple | set):
        parts = thing
    elif hasattr(thing, "__dict__"):
        parts = vars(thing).values()
    for part in parts:
        yield from _tensors(part, seen, depth + 1)
