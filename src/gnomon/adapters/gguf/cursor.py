"""Reads GGUF's primitive values from bytes, checking each length against what is left before it is believed."""

import struct
from mmap import mmap
from typing import Any, NamedTuple, final

from gnomon.errors import UnsupportedTargetError

SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
STRING, ARRAY = 8, 9
KEPT = 4096  # longer arrays (vocabularies) are counted and skipped
MOST_STRINGS = 4_000_000  # a vocabulary and its merges stay far below; more would keep a reader busy for minutes


class Array(NamedTuple):
    """An array of the metadata: how long it is, and its values when it is short and not text."""

    length: int
    values: tuple[Any, ...]


@final
class Cursor:
    """A position in the file that moves forward only."""

    def __init__(self, data: mmap | bytes, name: str) -> None:
        self._data = data
        self._name = name
        self._strings = 0
        self.at = 0

    @property
    def left(self) -> int:
        return len(self._data) - self.at

    def bad(self, reason: str) -> UnsupportedTargetError:
        return UnsupportedTargetError(f"{self._name} is not a usable GGUF file: {reason}.")

    def take(self, count: int, what: str) -> bytes:
        if count > self.left:
            raise self.bad(f"it ends inside {what} ({count:,} bytes wanted, {self.left:,} left)")
        self.at += count
        return self._data[self.at - count : self.at]

    def number(self, code: str, what: str) -> Any:
        (value,) = struct.unpack("<" + code, self.take(struct.calcsize("<" + code), what))
        return value

    def text(self, what: str, *, most: int | None = None) -> str:
        length = self.number("Q", f"the length of {what}")
        if most is not None and length > most:
            raise self.bad(f"{what} claims {length:,} bytes, more than the {most:,} allowed")
        return self.take(length, what).decode("utf-8", errors="replace")

    def value(self, kind: int, what: str) -> Any:
        """A metadata value of any type."""
        if kind == STRING:
            return self.text(what)
        if kind == ARRAY:
            return self._array(what)
        return self.number(self._code(kind, what), what)

    def _code(self, kind: int, what: str) -> str:
        if kind not in SCALARS:
            raise self.bad(f"{what} has the unknown type {kind}")
        return SCALARS[kind]

    def _array(self, what: str) -> Array:
        kind, length = self.number("I", f"the type of {what}"), self.number("Q", f"the length of {what}")
        if kind == STRING:
            self._skip_strings(length, what)
            return Array(length, ())
        code = self._code(kind, what)
        size = struct.calcsize("<" + code)
        if length * size > self.left:
            raise self.bad(f"{what} claims {length:,} values, but only {self.left:,} bytes are left")
        raw = self.take(length * size, what)
        return Array(length, struct.unpack(f"<{length}{code}", raw) if length <= KEPT else ())

    def _skip_strings(self, length: int, what: str) -> None:
        self._strings += length
        if self._strings > MOST_STRINGS:
            raise self.bad(f"{what} claims {length:,} texts; all arrays together may hold {MOST_STRINGS:,}")
        end = len(self._data)
        for _ in range(length):
            if self.at + 8 > end:
                raise self.bad(f"it ends inside {what}")
            self.at += 8 + int.from_bytes(self._data[self.at : self.at + 8], "little")
        if self.at > end:
            raise self.bad(f"it ends inside {what}")
