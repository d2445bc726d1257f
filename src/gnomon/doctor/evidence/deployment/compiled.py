"""What torch.compile makes of the model: how many graphs at one length, and how many more at others."""

import logging
from dataclasses import dataclass
from typing import Any

import torch

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.adapters.wording import said
from gnomon.doctor.evidence.base import evidence
from gnomon.doctor.evidence.calling import model
from gnomon.doctor.evidence.deployment.copies import replica, untouched

LENGTHS = (6, 9, 12, 15, 18)


@dataclass(frozen=True)
class Compiled:
    """Graphs after the first length and after all of them; `breaks`: why the first forward was split."""

    lengths: tuple[int, ...]
    first: int
    total: int
    breaks: tuple[str, ...]


@evidence
def compiled(subject: Subject) -> Compiled:
    """Traces a copy with a backend that runs graphs as they are; what this process has compiled is dropped after it."""
    probe = model(subject)
    lengths = tuple(dict.fromkeys(probe.length(n) for n in LENGTHS))
    if len(lengths) < len(LENGTHS):
        raise MissingEvidence(f"the model takes only {max(lengths)} places; five lengths are needed")
    copy = replica(probe, untouched(subject))
    graphs = 0

    def backend(graph: Any, _: Any) -> Any:
        nonlocal graphs
        graphs += 1
        return graph.forward

    counters: Any = torch._dynamo.utils.counters
    log = logging.getLogger("torch._dynamo")
    level = log.level
    log.setLevel(logging.CRITICAL)
    torch._dynamo.reset()
    counters.clear()
    try:
        copy.module = torch.compile(copy.module, backend=backend)  # type: ignore[assignment]
        copy(probe.draw(2, lengths[0], seed=79))
        first = graphs
        breaks = tuple(str(reason).split("\n")[0] for reason in counters["graph_break"])
        for length in lengths[1:]:
            copy(probe.draw(2, length, seed=79))
    except MissingEvidence as failure:
        raise MissingEvidence(f"torch.compile cannot run the model: {said(failure)}") from None
    finally:
        torch._dynamo.reset()
        counters.clear()
        log.setLevel(level)
    return Compiled(lengths, first, graphs, breaks)
