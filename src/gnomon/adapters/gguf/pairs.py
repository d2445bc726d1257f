"""The head of a GGUF file kept as bytes, so that what does not change is written again exactly as it was.

Format: github.com/ggml-org/ggml, docs/gguf.md.
"""

import mmap
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, final

from gnomon.adapters.gguf.cursor import ARRAY, SCALARS, STRING, Cursor
from gnomon.adapters.gguf.file import require_gguf
from gnomon.adapters.gguf.header import Header, read_gguf
from gnomon.errors import GnomonError, UnsupportedTargetError

UINT32, FLOAT32 = 4, 6
WHOLE: Final = tuple(kind for kind, code in SCALARS.items() if code in "BbHhIiQq")


@final
@dataclass(frozen=True)
class Pair:
    """One value of the metadata: its GGUF type, and its bytes."""

    kind: int
    raw: bytes


@final
@dataclass(frozen=True)
class Head:
    """`header` as gnomon reads it; `pairs` the same metadata as bytes, in the order of the file."""

    path: Path
    version: int
    header: Header
    pairs: Mapping[str, Pair]

    @property
    def alignment(self) -> int:
        return int(self.header.metadata.get("general.alignment", 32))


def read_head(path: Path) -> Head:
    """Raises UnsupportedTargetError with one sentence for a file that is truncated, hostile or no GGUF file.

    Raises GnomonError for a tensor whose name is no text: it could not be written again as it is.
    """
    require_gguf()
    header = read_gguf(path)
    if odd := next((stored.name for stored in header.tensors if "\ufffd" in stored.name), None):
        raise GnomonError(f"{path} has a tensor whose name is no text ({odd!r}), so it cannot be written again.")
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            cursor = Cursor(data, str(path))
            cursor.take(4, "the magic number")
            version = cursor.number("I", "the version")
            cursor.take(8, "the tensor count")
            count = cursor.number("Q", "the metadata count")
            return Head(path, version, header, dict(_pair(cursor, data) for _ in range(count)))
    except OSError as error:
        raise UnsupportedTargetError(f"{path} cannot be read: {error.strerror}.") from None


def encoded(key: str, value: Any, old: Pair | None) -> Pair:
    """A value for a key: in the type that the file has for it, else text, 32 whole bits or 32 bits of a float.

    >>> encoded("llama.context_length", 8192, None)
    Pair(kind=4, raw=b'\\x00 \\x00\\x00')
    """
    if isinstance(value, str):
        raw = value.encode()
        return Pair(STRING, struct.pack("<Q", len(raw)) + raw)
    kind = UINT32 if isinstance(value, int) else FLOAT32
    if old is not None and old.kind in SCALARS and (old.kind not in WHOLE or float(value) == int(value)):
        kind = old.kind
    try:
        return Pair(kind, struct.pack("<" + SCALARS[kind], int(value) if kind in WHOLE else float(value)))
    except (struct.error, OverflowError):
        raise GnomonError(f"The value {value!r} does not fit into the type that the file has for {key}.") from None


def written(pairs: Mapping[str, Pair]) -> bytes:
    """The pairs as the file has them."""
    return b"".join(_text(key) + struct.pack("<I", pair.kind) + pair.raw for key, pair in pairs.items())


def _pair(cursor: Cursor, data: mmap.mmap) -> tuple[str, Pair]:
    length = cursor.number("Q", "the length of a key")
    key = cursor.take(length, "a key").decode("utf-8", errors="surrogateescape")
    kind = cursor.number("I", "the type of a value")
    begin = cursor.at
    if kind not in (ARRAY, STRING, *SCALARS):
        raise cursor.bad(f"the value of {key[:60]!r} has the unknown type {kind}")
    cursor.value(kind, "a value")
    return key, Pair(kind, data[begin : cursor.at])


def _text(key: str) -> bytes:
    raw = key.encode("utf-8", errors="surrogateescape")
    return struct.pack("<Q", len(raw)) + raw
