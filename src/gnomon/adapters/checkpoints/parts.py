"""A part of a file as bytes, at once or a chunk at a time; a file that became shorter meanwhile is one sentence."""

from collections.abc import Iterator
from typing import BinaryIO, Final

from gnomon.errors import UnsupportedTargetError

CHUNK: Final = 8 * 2**20  #: bytes read at a time


def read_part(file: BinaryIO, begin: int, size: int) -> bytearray:
    """`size` bytes from `begin` on, in memory of their own; raises UnsupportedTargetError where the file ends before.

    >>> import io
    >>> read_part(io.BytesIO(b"abcdef"), 2, 3)
    bytearray(b'cde')
    """
    raw = bytearray(size)
    file.seek(begin)
    if file.readinto(raw) < size:  # type: ignore[attr-defined]  # every buffered file has it
        raise _shorter(file)
    return raw


def chunks(file: BinaryIO, begin: int, size: int) -> Iterator[bytes]:
    """The same bytes, 8 MiB or fewer at a time."""
    file.seek(begin)
    while size:
        chunk = file.read(min(CHUNK, size))
        if not chunk:
            raise _shorter(file)
        yield chunk
        size -= len(chunk)


def _shorter(file: BinaryIO) -> UnsupportedTargetError:
    return UnsupportedTargetError(f"{file.name} became shorter while it was read.")
