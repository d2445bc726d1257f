"""Write a file whole or not at all."""

import os
import secrets
import stat
from pathlib import Path

from gnomon.errors import GnomonError


def write_whole(path: str | os.PathLike[str], content: bytes) -> None:
    """Write beside the target, then replace it: a reader sees the old file or the new one, never half of one.

    A device or a pipe is written into and stays what it is. Raises GnomonError when the folder is missing, the path is
    a folder, or the file cannot be written.
    """
    check_writable(path)
    try:
        if _kind(path) in (None, stat.S_IFREG):
            _replace(Path(os.path.realpath(path)), content)
        else:
            Path(path).write_bytes(content)
    except OSError as error:
        raise GnomonError(f"Cannot write {_short(path)}: {error.strerror}. Choose another path.") from error


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise GnomonError where a write would fail for sure, before anything costly is computed."""
    try:
        kind = _kind(path)
        # A link that leads nowhere is written through, so the folder that it names counts.
        folders = (Path(path).parent, Path(os.path.realpath(path)).parent) if kind is None else ()
        missing = next((folder for folder in folders if not folder.is_dir()), None)
    except (OSError, ValueError) as error:  # too long a name, or one with a null byte
        reason = getattr(error, "strerror", None) or str(error)
        raise GnomonError(f"Cannot write {_short(path)}: {reason}. Choose another path.") from error
    if missing is not None:
        raise GnomonError(f"The folder {missing} does not exist; make it, or write somewhere else.")
    if kind == stat.S_IFDIR:
        raise GnomonError(f"{path} is a folder; name a file in it.")


def try_writing(path: str | os.PathLike[str]) -> None:
    """As `check_writable`; a file is made beside the path too, and removed: not every folder takes one."""
    check_writable(path)
    if _kind(path) in (None, stat.S_IFREG):
        beside = _beside(Path(os.path.realpath(path)))
        try:
            beside.touch(exist_ok=False)
            beside.unlink()
        except OSError as error:
            raise GnomonError(f"Cannot write {_short(path)}: {error.strerror}. Choose another path.") from error


def _kind(path: str | os.PathLike[str]) -> int | None:
    """The kind of file that is there, links followed; None when there is none."""
    try:
        return stat.S_IFMT(os.stat(path).st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return None


def _replace(target: Path, content: bytes) -> None:
    beside = _beside(target)
    try:
        with beside.open("xb") as file:
            file.write(content)
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)


def _beside(target: Path) -> Path:
    return target.with_name(f".{secrets.token_hex(8)}.part")


def _short(path: str | os.PathLike[str]) -> str:
    text = os.fspath(path)
    return text if len(text) <= 120 else f"{text[:60]}...{text[-40:]}"
