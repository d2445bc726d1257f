"""Read the files that are wanted out of an archive, into memory: nothing of it is ever unpacked onto the disk.

So a name that leads outside, a link or a device can do no harm: only regular files are read, and only by name.
"""

import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import IO

from gnomon.errors import GnomonError

Wanted = Callable[[str], bool]
Member = tuple[str, int, Callable[[], IO[bytes] | None]]  #: name, size as the archive tells it, and how to open it
MOST_BYTES = 512 * 2**20  #: of all files that are read from one archive
BROKEN = (tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError, NotImplementedError)


def read_tar(file: IO[bytes], wanted: Wanted, *, name: str, most: int = MOST_BYTES) -> dict[str, bytes]:
    """The wanted files of a tar archive, compressed or not, that is read from start to end."""

    def files() -> Iterator[Member]:
        with tarfile.open(fileobj=file, mode="r|*") as archive:
            for member in archive:
                if member.isreg():
                    yield member.name, member.size, partial(archive.extractfile, member)

    return _read(files(), wanted, name, most)


def read_zip(path: Path, wanted: Wanted, *, most: int = MOST_BYTES) -> dict[str, bytes]:
    """The wanted files of a zip archive, as a wheel is one."""

    def files() -> Iterator[Member]:
        with zipfile.ZipFile(path) as archive:
            for member in archive.infolist():
                if not member.is_dir():
                    yield member.filename, member.file_size, partial(archive.open, member)

    return _read(files(), wanted, path.name, most)


def _read(files: Iterator[Member], wanted: Wanted, name: str, most: int) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    left = most
    try:
        for inside, size, opened in files:
            inside = inside.removeprefix("./")
            if not wanted(inside):
                continue
            file = opened()
            content = b"" if file is None else file.read(left + 1)
            left -= max(size, len(content))
            if left < 0:
                raise GnomonError(f"{name} holds more than {most} bytes of what is wanted; it is not read.")
            found[inside] = content
    except BROKEN as error:
        raise GnomonError(f"{name} cannot be read as an archive ({error}); fetch it once more.") from error
    return found
