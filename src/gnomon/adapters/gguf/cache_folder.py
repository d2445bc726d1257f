"""The user's cache folder, where a converted checkpoint is kept: GNOMON_CACHE, or gnomon/ in the platform's place."""

import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path


def cache_root() -> Path:
    """Where gnomon may keep files that it can make again."""
    if own := os.environ.get("GNOMON_CACHE"):
        return Path(own).expanduser()
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or str(Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = str(Path.home() / "Library" / "Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base).expanduser() / "gnomon"


def made_once(key: str, make: Callable[[Path], None]) -> Path:
    """The folder `key` of the cache; filled by `make` when it is not there, and then put in place in one step.

    A folder that is there is complete: a crash or a second process never leaves half of one.
    """
    root = cache_root()
    done = root / key
    if done.is_dir():
        return done
    root.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix=f"{key}.", dir=root))
    try:
        make(work)
        try:
            work.rename(done)
        except OSError:
            if not done.is_dir():  # another process was first
                raise
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return done
