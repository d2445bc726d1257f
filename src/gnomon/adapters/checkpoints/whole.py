"""A large file or a folder that appears whole or not at all: it gets its name once it is complete and on the disk."""

import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from gnomon.errors import GnomonError

SHOWN: Final = 40  #: characters of the name that tell whose remains these are; the longest name leaves no room for more


@contextmanager
def whole(output: Path) -> Iterator[Path]:
    """A path beside `output` to make the file or the folder at; at the end of the block it is renamed to `output`.

    Nothing is left where the block fails, and an OSError in it is raised as GnomonError. A run that is killed outright
    leaves what it had written under a name that starts with a dot, never under that of `output`.
    """
    beside = output.with_name(f".{output.name[:SHOWN]}.{secrets.token_hex(4)}.part")
    try:
        yield beside
        _synchronise(beside)  # before it has its name: what is there is whole, even after a power cut
        beside.replace(output)
    except OSError as error:
        raise GnomonError(f"Cannot write {output}: {error.strerror or error}. Choose another place.") from error
    finally:
        _remove(beside)


def remains_of(output: Path) -> tuple[Path, ...]:
    """What runs that were killed, or that still write, have beside `output` under such a name."""
    names = re.compile(re.escape(f".{output.name[:SHOWN]}.") + r"[0-9a-f]{8}\.part")
    try:
        return tuple(sorted(path for path in output.parent.iterdir() if names.fullmatch(path.name)))
    except OSError:
        return ()


def _synchronise(made: Path) -> None:
    """What was made is on the disk, not only in memory that is to be written there."""
    for path in (*(made.rglob("*") if made.is_dir() else ()), made):
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _remove(made: Path) -> None:
    shutil.rmtree(made, ignore_errors=True)
    with suppress(OSError):  # a file; a folder is gone, and so is what has its name now
        made.unlink()
