"""Every tensor operation of one forward, as data: what was made, where, in which dtype and how large."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from gnomon.adapters.subject import Subject
from gnomon.doctor.evidence.base import evidence
from gnomon.doctor.evidence.calling import Model, model
from gnomon.doctor.evidence.deployment.copies import require_operations
from gnomon.doctor.evidence.paths import running_path

BATCH, LENGTH = 2, 29


@dataclass(frozen=True)
class Operation:
    """One operation and its first result. `source`: a number for the first tensor that it was given, by identity."""

    where: str
    name: str
    dtype: torch.dtype
    shape: tuple[int, ...]
    source: int
    source_dtype: torch.dtype | None


@evidence
def operations(subject: Subject) -> tuple[Operation, ...]:
    """The operations of one forward on random content."""
    require_operations(subject)
    probe = model(subject)
    return operations_of(probe, probe.draw(BATCH, 0 if probe.takes_images else probe.length(LENGTH), seed=73))


def operations_of(probe: Model, content: Tensor) -> tuple[Operation, ...]:
    """The operations of one forward on this content."""
    with running_path(probe.module) as path:
        recorder = _Recorder(path)
        with recorder:
            probe(content)
    return tuple(recorder.seen)


class _Recorder(TorchDispatchMode):
    """Keeps every tensor it numbered, so that no identity is used again."""

    def __init__(self, path: list[str]) -> None:
        super().__init__()
        self.path = path
        self.seen: list[Operation] = []
        self._numbers: dict[int, tuple[Tensor, int]] = {}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        first = out[0] if isinstance(out, tuple | list) and out else out
        if isinstance(first, Tensor):
            given = next((a for a in args if isinstance(a, Tensor)), None)
            where = self.path[-1] if self.path else ""
            number, dtype = (-1, None) if given is None else (self._number(given), given.dtype)
            name = func.overloadpacket.__name__
            self.seen.append(Operation(where, name, first.dtype, tuple(first.shape), number, dtype))
        return out

    def _number(self, tensor: Tensor) -> int:
        return self._numbers.setdefault(id(tensor), (tensor, len(self._numbers)))[1]
