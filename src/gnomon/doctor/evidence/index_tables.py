"""Stored indices: which position, offset or bucket a place has, looked up instead of computed."""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64, Int64

from gnomon.adapters.module import ModuleTensors
from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.adapters.tensors import TensorInfo, TensorSource
from gnomon.doctor.evidence.base import attempt, evidence

COUNTED = re.compile(r"(^|[._])(position|pos)_?(ids?|index|indices|idx)$", re.IGNORECASE)
OFFSETS = re.compile(r"rel\w*_?(position|pos|coord)\w*_?(index|idx|indices)$|attention_bias_idxs$", re.IGNORECASE)
BUCKETS = re.compile(r"bucket(s|_ids?|_index)?$", re.IGNORECASE)
TABLE_OF_BIASES = re.compile(
    r"rel\w*_?(position|pos|attention)\w*_?(bias|table|embed)|attention_biases$|bias_table", re.I
)
MOST = 16_000_000  # numbers; larger ones are left unread
SPECIAL = 3  # rows for a class token, beside one for each offset (BEiT)


@dataclass(frozen=True)
class IndexTable:
    """One stored index. `kind`: of places counted one by one, of offsets between two places, or of their buckets.

    `rows` of the table that it indexes, where one stands beside it.
    """

    name: str
    kind: str
    dtype: str
    values: Float64[np.ndarray, "..."]
    rows: int | None = None

    def square(self) -> Int64[np.ndarray, "places places"] | None:
        """Offsets as one row a query and one column a key, also when they are kept flat; None when they are not."""
        side = math.isqrt(self.values.size)
        if side * side != self.values.size or side < 2 or (self.values.ndim == 2 and len(self.values) != side):
            return None
        return np.asarray(self.values.reshape(side, side), dtype=np.int64)


@evidence
def index_tables(subject: Subject) -> tuple[IndexTable, ...]:
    """Every stored index, in the files and in the buffers of the model."""
    stored = attempt(lambda s: s.tensors, subject)
    built = None if isinstance(stored, ModuleTensors) else attempt(lambda s: ModuleTensors(s.module), subject)
    found: dict[str, IndexTable] = {}
    for source in (stored, built):
        if source is not None:
            found |= {table.name: table for table in _in(source) if table.name not in found}
    if not found:
        raise MissingEvidence("no stored index of positions, offsets or buckets")
    return tuple(found.values())


def _in(source: TensorSource) -> Iterator[IndexTable]:
    infos = source.infos()
    for info in infos:
        kind = _kind(info)
        if kind is None or not 1 < math.prod(info.shape) <= MOST:
            continue
        values = _values(source, info)
        if values is not None:
            yield IndexTable(info.name, kind, info.dtype, values, _rows(info.name, infos))


def _values(source: TensorSource, info: TensorInfo) -> Float64[np.ndarray, "..."] | None:
    """None while the values are nowhere (meta device)."""
    try:
        values: Float64[np.ndarray, "..."] = source.load(info.name).double().numpy().squeeze()
    except MissingEvidence:
        return None
    return values


def _kind(info: TensorInfo) -> str | None:
    if info.trainable or "complex" in info.dtype or info.dtype == "bool":
        return None
    if BUCKETS.search(info.name):
        return "buckets"
    if OFFSETS.search(info.name):
        return "offsets"
    return "places" if COUNTED.search(info.name) else None


def _rows(name: str, infos: tuple[TensorInfo, ...]) -> int | None:
    """Rows of the table of biases in the same module."""
    prefix = name.rpartition(".")[0]
    start = f"{prefix}." if prefix else ""
    tables = [
        info
        for info in infos
        if info.name.startswith(start) and TABLE_OF_BIASES.search(info.name) and len(info.shape) == 2
    ]
    if len(tables) != 1 or tables[0].name == name:
        return None
    return tables[0].shape[1 if tables[0].name.endswith("attention_biases") else 0]  # LeViT keeps a row a head
