"""What happens to tokens beyond the last row of a position table: in one pass, and through a cache."""

from dataclasses import dataclass
from typing import final

import torch
from torch import Tensor

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.evidence.again import unused
from gnomon.doctor.evidence.base import evidence
from gnomon.doctor.evidence.calling import Model, model
from gnomon.doctor.evidence.decoding import Way, decoding
from gnomon.doctor.evidence.places import sources, watched

PASS = 3  #: tokens that follow the last row but one
LONGEST = 1024  # rows; filling a longer table takes seconds


@final
@dataclass(frozen=True)
class Beyond:
    """Outputs of the last PASS tokens of a text two longer than a table of `rows`; None and a reason: refused."""

    rows: int
    whole: Tensor | None
    chunk: Tensor | None
    steps: Tensor | None
    reason: str  #: what the cached forward said


@evidence
def beyond_table(subject: Subject) -> Beyond:
    """Fills the smallest position table that the forward reads, and goes on for two tokens."""
    probe, way = model(subject), decoding(subject)
    rows = _rows(unused(subject))
    if rows > LONGEST:
        raise MissingEvidence(f"the position table has {rows} rows; more than {LONGEST} take too long to fill")
    content = probe.draw(1, rows + PASS - 1, seed=121)
    reason = ""
    outputs: list[Tensor | None] = []
    for chunks in ([PASS], [1] * PASS):
        try:
            outputs.append(_through_cache(unused(subject), way, content, chunks))
        except MissingEvidence as refused:
            outputs.append(None)
            reason = reason or str(refused)
    return Beyond(rows, _whole(unused(subject), content), outputs[0], outputs[1], reason)


def _rows(probe: Model) -> int:
    """Rows for positions 0, 1, 2, ...: those of the table less the ones that it reserves."""
    content = probe.draw(1, probe.length(6), seed=122)
    found = sources(watched(probe.module, lambda: probe(content)), content.shape[1])
    sizes = [source.rows - round(source.start) for source in found if source.rows is not None]
    if not sizes:
        raise MissingEvidence("no table of positions was seen to be read: they are computed")
    return min(sizes)


def _whole(probe: Model, content: Tensor) -> Tensor | None:
    try:
        return probe(content)[:, -PASS:]
    except MissingEvidence:
        return None


def _through_cache(probe: Model, way: Way, content: Tensor, chunks: list[int]) -> Tensor:
    session, done, outputs = way.open(probe, 1), content.shape[1] - PASS, []
    session.feed(content[:, :done])
    for size in chunks:
        outputs.append(session.feed(content[:, done : done + size]))
        done += size
    return torch.cat(outputs, dim=1)
