"""How far decoding differs from one pass, and which positions the tokens of each call were really given."""

from collections.abc import Sequence

from torch import Tensor

from gnomon.adapters.subject import MissingEvidence
from gnomon.doctor.evidence.calling import Model
from gnomon.doctor.evidence.decoding import Way
from gnomon.doctor.evidence.noise import difference
from gnomon.doctor.evidence.places import positions_said, sources, watched


def effect_of(probe: Model, way: Way, content: Tensor, full: Tensor, chunks: Sequence[int]) -> float | None:
    """How far feeding in chunks differs from one pass; None when the model refuses to be fed so."""
    try:
        return difference(full, way.fed(probe, content, chunks))
    except MissingEvidence:
        return None


def misplaced(probe: Model, way: Way, content: Tensor, chunks: Sequence[int]) -> str:
    """Which positions the first call that is wrong used, and which are right; empty when none was seen to be wrong."""
    found = sources(watched(probe.module, lambda: probe(content[:1])), content.shape[1])
    session, done = way.open(probe, 1), 0
    for size in chunks:
        now = content[:1, done : done + size]
        seen = watched(session.probe.module, lambda now=now: session.feed(now))  # type: ignore[misc]
        right = list(range(done, done + size))
        wrong = [said for said in positions_said(seen, found, size) if said != right]
        if wrong:
            return f"after {done} tokens it uses {spelled(wrong[0])}, not {spelled(right)}"
        done += size
    return ""


def spelled(positions: Sequence[int]) -> str:
    """Position 5, or positions 5, 6, 7."""
    return f"position{'s' if len(positions) > 1 else ''} {', '.join(str(p) for p in positions)}"
