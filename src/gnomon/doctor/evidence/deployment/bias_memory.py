"""Biases and masks of the size of the scores: which are made whole, which once for each row of the batch, which stay.

What comes from a product of queries and keys is left out: scores have that size by right, where they are made at all.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.evidence.base import evidence
from gnomon.doctor.evidence.calling import Model, model
from gnomon.doctor.evidence.deployment.copies import replica, untouched
from gnomon.doctor.evidence.paths import running_path

BATCH, SHORT, LONG = 2, 31, 61
COPIES = ("repeat", "clone", "_to_copy", "copy_", "index_select", "cat", "stack")


@dataclass(frozen=True)
class Whole:
    """A tensor (..., L, L) with an entry for each head, made outside of scores; `per_row`: its batch rows are equal."""

    where: str
    operation: str
    shape: tuple[int, ...]
    bytes: int
    per_row: bool


@dataclass(frozen=True)
class BiasMemory:
    """Biases of the longer forward, the growth of the largest with the length, and what the modules keep afterwards.

    `kept`: names of tensors (..., L, L) that hang on a module after its forward, with their bytes.
    """

    length: int
    biases: tuple[Whole, ...]
    exponent: float
    kept: dict[str, int]


@evidence
def bias_memory(subject: Subject) -> BiasMemory:
    """Forwards of two lengths on a copy that nothing has run."""
    probe = model(subject)
    short, long = probe.length(SHORT), probe.length(LONG)
    if not 8 <= short < long:
        raise MissingEvidence(f"the model takes {long} places; growth needs two lengths of 8 and more")
    fresh = replica(probe, untouched(subject))
    owned = {name for name, _ in _kept(fresh.module, long)}
    before = _largest(_made(fresh, short))
    biases = _made(fresh, long)
    growth = _largest(biases) / before if before and biases else 1.0
    exponent = float(torch.tensor(growth).log() / torch.tensor(long / short).log())
    kept = {name: size for name, size in _kept(fresh.module, long) if name not in owned}
    return BiasMemory(long, biases, exponent, kept)


def _largest(biases: tuple[Whole, ...]) -> int:
    return max((bias.bytes for bias in biases), default=0)


def _made(probe: Model, length: int) -> tuple[Whole, ...]:
    with running_path(probe.module) as path:
        recorder = _Recorder(path, length)
        with recorder:
            probe(probe.draw(BATCH, length, seed=75))
    return tuple(recorder.found)


def _kept(module: nn.Module, length: int) -> Iterator[tuple[str, int]]:
    """Each storage once, whether an attribute, a buffer or an item of a container on a module."""
    seen: set[int] = set()
    for path, part in module.named_modules():
        for name, value in (*vars(part).items(), *part._buffers.items()):
            for tensor in value if isinstance(value, tuple | list) else (value,):
                if isinstance(tensor, Tensor) and tensor.shape[-2:] == (length, length) and tensor.ndim >= 3:
                    place = tensor.untyped_storage().data_ptr()
                    if place not in seen and tensor.is_floating_point():
                        seen.add(place)
                        yield f"{path}.{name}".lstrip("."), tensor.untyped_storage().nbytes()


class _Recorder(TorchDispatchMode):
    """Follows what comes from products; keeps every tensor it follows, so that no identity is used again."""

    def __init__(self, path: list[str], length: int) -> None:
        super().__init__()
        self.path, self.length = path, length
        self.found: list[Whole] = []
        self._scores: dict[int, Tensor] = {}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        name = func.overloadpacket.__name__
        for tensor in out if isinstance(out, tuple | list) else (out,):
            if isinstance(tensor, Tensor) and tensor.shape[-2:] == (self.length, self.length):
                self._look(name, tensor, args)
        return out

    def _look(self, name: str, tensor: Tensor, args: Any) -> None:
        products = name in ("bmm", "baddbmm", "mm", "einsum") or name.startswith("_scaled_dot_product")
        if products or any(id(a) in self._scores for a in args if isinstance(a, Tensor)):
            self._scores[id(tensor)] = tensor
            return
        many = [n for n in tensor.shape[:-2] if n > 1]
        size = tensor.numel() * tensor.element_size()
        whole = tensor.is_contiguous() and tensor.untyped_storage().nbytes() >= size
        if not tensor.is_floating_point() or not many or not whole or tensor.numel() == BATCH * self.length**2:
            return
        where = self.path[-1] if self.path else ""
        per_row = name in COPIES and _rows_equal(tensor)
        self.found.append(Whole(where, name, tuple(tensor.shape), size, per_row))


def _rows_equal(tensor: Tensor) -> bool:
    """Whether the first axis holds the same thing for each row of the batch."""
    if tensor.shape[0] % BATCH or tensor.numel() <= BATCH * tensor.shape[-1] ** 2:
        return False
    rows = tensor.view(BATCH, -1)
    return torch.equal(rows[0], rows[1])
