"""Write a file whole or not at all."""

import os
import secrets
from pathlib import Path

from gnomon.errors import GnomonError


def write_whole(path: str | os.PathLike[str], content: bytes) -> None:
    """Write beside the target, then replace it: a reader sees the old file or the new one, never half of one.

    Raises GnomonError when the folder is missing, the path is a folder, or the file cannot be written.
    """
    target = Path(os.path.realpath(path))
    check_writable(target)
    beside = target.with_name(f".{secrets.token_hex(8)}.part")
    try:
        with beside.open("xb") as file:
            file.write(content)
        beside.replace(target)
    except OSError as error:
        raise GnomonError(f"Cannot write {target}: {error.strerror}. Choose another path.") from error
    finally:
        beside.unlink(missing_ok=True)


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise GnomonError where a write would fail for sure, before anything costly is computed."""
    target = Path(path)
    if not target.parent.is_dir():
        raise GnomonError(f"The folder {target.parent} does not exist; make it, or write somewhere else.")
    if target.is_dir():
        raise GnomonError(f"{target} is a folder; name a file in it.")
