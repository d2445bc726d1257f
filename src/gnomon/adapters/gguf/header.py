"""A strict look at a GGUF file: metadata and tensor directory, every count and offset checked against the file's size.

Format: github.com/ggml-org/ggml, docs/gguf.md, versions 2 and 3, little-endian.
"""

import math
import mmap
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from gnomon.adapters.checkpoints.json_file import require_file
from gnomon.adapters.gguf.cursor import Cursor
from gnomon.errors import UnsupportedTargetError

MAGIC = b"GGUF"
VERSIONS = (2, 3)
LONGEST_NAME = 65535
MOST_DIMENSIONS = 4
SMALLEST_PAIR, SMALLEST_TENSOR = 13, 32  # bytes: one metadata pair, one tensor entry


@dataclass(frozen=True)
class Stored:
    """Where a tensor lies: shape slowest dimension first (torch's order), GGUF type, first byte, bytes."""

    name: str
    shape: tuple[int, ...]
    type: int
    begin: int
    size: int


@dataclass(frozen=True)
class Header:
    """Metadata (long arrays only counted) and tensors of a GGUF file."""

    metadata: Mapping[str, Any]
    tensors: tuple[Stored, ...]


def read_gguf(path: Path) -> Header:
    """The header of a GGUF file; raises UnsupportedTargetError unless all of it is sane and the data is complete."""
    if require_file(path) < 24:
        raise UnsupportedTargetError(f"{path} is not a usable GGUF file: it is too short for a header.")
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return _parse(Cursor(data, str(path)), len(data))
    except OSError as error:
        raise UnsupportedTargetError(f"{path} cannot be read: {error.strerror}.") from None


def _parse(cursor: Cursor, size: int) -> Header:
    if (magic := cursor.take(4, "the magic number")) != MAGIC:
        raise cursor.bad(f"it starts with {magic!r} instead of {MAGIC!r}")
    version = cursor.number("I", "the version")
    if version not in VERSIONS:
        order = "; it may be big-endian" if version & 0xFFFF == 0 else ""
        raise cursor.bad(f"it has version {version}, and gnomon reads {' and '.join(map(str, VERSIONS))}{order}")
    tensors, pairs = cursor.number("Q", "the tensor count"), cursor.number("Q", "the metadata count")
    if pairs * SMALLEST_PAIR + tensors * SMALLEST_TENSOR > cursor.left:
        raise cursor.bad(f"it claims {pairs:,} metadata pairs and {tensors:,} tensors in {cursor.left:,} bytes")
    metadata = _metadata(cursor, pairs)
    entries = [_entry(cursor) for _ in range(tensors)]
    align = metadata.get("general.alignment", 32)
    if type(align) is not int or align < 1 or align & (align - 1) or align > 2**20:
        raise cursor.bad(f"its alignment {align!r} is not a power of two")
    start = math.ceil(cursor.at / align) * align
    return Header(metadata, _placed(cursor, entries, start, size))


def _metadata(cursor: Cursor, pairs: int) -> dict[str, Any]:
    metadata: dict[str, Any] = {}
    for index in range(pairs):
        key = cursor.text(f"metadata key {index}", most=LONGEST_NAME)
        if key in metadata:
            raise cursor.bad(f"the metadata key {key[:60]!r} stands there twice")
        metadata[key] = cursor.value(cursor.number("I", f"the type of {key[:60]!r}"), f"the value of {key[:60]!r}")
    return metadata


def _entry(cursor: Cursor) -> Stored:
    """One entry of the directory; `begin` still counts from the start of the data."""
    name = cursor.text("a tensor's name", most=LONGEST_NAME)
    label = repr(name[:60])
    count = cursor.number("I", f"the dimensions of {label}")
    if count > MOST_DIMENSIONS:
        raise cursor.bad(f"the tensor {label} claims {count:,} dimensions; {MOST_DIMENSIONS} are allowed")
    fastest_first = [cursor.number("Q", f"the shape of {label}") for _ in range(count)]
    if not all(fastest_first):
        raise cursor.bad(f"the tensor {label} has a dimension of 0")
    kind, begin = cursor.number("I", f"the type of {label}"), cursor.number("Q", f"the offset of {label}")
    return Stored(name, tuple(reversed(fastest_first)), kind, begin, _bytes(cursor, label, fastest_first, kind))


def _bytes(cursor: Cursor, label: str, fastest_first: list[int], kind: int) -> int:
    block, size = _block(cursor, label, kind)
    row = fastest_first[0] if fastest_first else 1
    if row % block:
        raise cursor.bad(f"the tensor {label} has rows of {row:,} values, not a multiple of its block of {block}")
    return math.prod(fastest_first) // block * size


def _block(cursor: Cursor, label: str, kind: int) -> tuple[int, int]:
    from gguf.constants import GGML_QUANT_SIZES

    sizes: dict[int, tuple[int, int]] = {int(name): pair for name, pair in GGML_QUANT_SIZES.items()}
    if kind not in sizes:
        raise cursor.bad(f"the tensor {label} has the unknown type {kind}")
    return sizes[kind]


def _placed(cursor: Cursor, entries: list[Stored], start: int, size: int) -> tuple[Stored, ...]:
    placed = [Stored(e.name, e.shape, e.type, start + e.begin, e.size) for e in entries]
    for entry in placed:
        if entry.begin + entry.size > size:
            end = entry.begin + entry.size
            raise cursor.bad(f"the tensor {entry.name[:60]!r} ends at byte {end:,}, but the file has {size:,}")
    for before, after in pairwise(sorted(placed, key=lambda entry: entry.begin)):
        if after.begin < before.begin + before.size:
            raise cursor.bad(f"the tensors {before.name[:60]!r} and {after.name[:60]!r} overlap")
    if len({entry.name for entry in placed}) < len(placed):
        raise cursor.bad("two tensors have the same name")
    return tuple(placed)
