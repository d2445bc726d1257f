"""How many threads torch computes with while a model is examined."""

import math
from collections.abc import Iterator
from contextlib import contextmanager

import torch

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.errors import GnomonError

SMALL = 50_000_000  # numbers; the forwards of the probes are short, and more threads gain little below


@contextmanager
def threads_for(subject: Subject) -> Iterator[None]:
    """One thread for a small model, as many as before for others; afterwards as many as before for all.

    Threads wait for each other after every operation, which costs more than it gains when an operation takes
    microseconds, and far more on a machine that has other work. Measured on two cores, a Llama of two layers and width
    32: 0.43 s with one thread and 0.53 s with two; 0.9 s and 20 s while other programs ran.
    """
    before = torch.get_num_threads()
    if _size(subject) < SMALL:
        torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _size(subject: Subject) -> int:
    """How many numbers the tensors hold, from their headers; 0 for a model built from a config, which is small."""
    if subject.has("built"):
        return 0
    try:
        return sum(math.prod(info.shape) for info in subject.tensors.infos())
    except (MissingEvidence, GnomonError):
        return 0
