"""Folders of the user's cache that are made once: where a converted checkpoint is kept."""

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from gnomon.cache import cache_root


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
