"""Cosines and sines of a rotation that a model keeps ready: pairs of tables, one table of both, or complex numbers."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Complex128
from torch import Tensor

from gnomon.adapters.module import ModuleTensors
from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.adapters.tensors import TensorInfo, TensorSource
from gnomon.doctor.evidence.base import attempt, evidence

COSINES = re.compile(r"(^|[._])((rope|rotary|freqs?|emb)_)?cos(ines?)?(_?cached?|_?table)?$", re.IGNORECASE)
JOINED = re.compile(r"cos_?sin(_?cache)?$|(^|[._])(rope|rotary)_?(cache|table)$", re.IGNORECASE)
COMPLEX = re.compile(r"cis|rope|rotary|freq", re.IGNORECASE)
MOST = 32_000_000  # numbers; larger ones are left unread
FEWEST = 8  # rows


@dataclass(frozen=True)
class AngleCache:
    """cos + i sin, one row a position and one column a pair, in the dtype that they are kept in."""

    name: str
    dtype: str
    values: Complex128[np.ndarray, "rows pairs"]

    @property
    def counts(self) -> bool:
        """Whether it is kept in whole numbers, which have no room for a cosine."""
        return re.match(r"u?int|I\d", self.dtype) is not None


@evidence
def angle_caches(subject: Subject) -> tuple[AngleCache, ...]:
    """Every cache of angles, in the files and in the model."""
    stored = attempt(lambda s: s.tensors, subject)
    built = None if isinstance(stored, ModuleTensors) else attempt(lambda s: ModuleTensors(s.module), subject)
    found: dict[str, AngleCache] = {}
    for source in (stored, built):
        if source is not None:
            found |= {cache.name: cache for cache in _in(source) if cache.name not in found}
    if not found:
        raise MissingEvidence("no cache of cosines and sines among the tensors")
    return tuple(found.values())


def _in(source: TensorSource) -> Iterator[AngleCache]:
    infos = {info.name: info for info in source.infos() if _may_be(info)}
    for name, info in infos.items():
        if COSINES.search(name):
            sines = infos.get(_sines(name))
            if sines is not None and sines.shape == info.shape:
                yield from _cache(info, torch.complex(_table(source, info), _table(source, sines)))
        elif "complex" in info.dtype and COMPLEX.search(name):
            yield from _cache(info, source.load(name).to(torch.complex128).reshape(_axes(info.shape)))
        elif JOINED.search(name):
            yield from _cache(info, _split(source.load(name).double().squeeze()))


def _may_be(info: TensorInfo) -> bool:
    return not info.trainable and 0 < int(np.prod(info.shape)) <= MOST


def _sines(name: str) -> str:
    start, found, end = name.rpartition("cos")
    return f"{start}sin{end.replace('ines', 'es')}" if found else ""


def _axes(shape: tuple[int, ...]) -> list[int]:
    long = [n for n in shape if n > 1]
    return long if len(long) == 2 else [int(np.prod(shape)), 1]


def _table(source: TensorSource, info: TensorInfo) -> Tensor:
    return source.load(info.name).double().reshape(_axes(info.shape))


def _split(both: Tensor) -> Tensor:
    """(rows, pairs, 2), or cosines and sines side by side (rows, 2 pairs)."""
    if both.ndim == 3 and both.shape[-1] == 2:
        return torch.complex(both[..., 0].contiguous(), both[..., 1].contiguous())
    if both.ndim == 2 and both.shape[1] % 2 == 0:
        cosines, sines = both.chunk(2, dim=1)
        return torch.complex(cosines.contiguous(), sines.contiguous())
    return torch.zeros(0, 0, dtype=torch.complex128)


def _cache(info: TensorInfo, values: Tensor) -> Iterator[AngleCache]:
    """One column a pair, where both lanes of a pair have one."""
    rows, lanes = values.shape
    if rows < FEWEST or lanes < 2:
        return
    if lanes % 2 == 0 and torch.equal(values[:, : lanes // 2], values[:, lanes // 2 :]):
        values = values[:, : lanes // 2]
    elif lanes % 2 == 0 and torch.equal(values[:, ::2], values[:, 1::2]):
        values = values[:, ::2]
    yield AngleCache(info.name, info.dtype, values.numpy())
