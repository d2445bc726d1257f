"""The user's cache folder: GNOMON_CACHE, or gnomon/ in the platform's place."""

import os
import sys
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
