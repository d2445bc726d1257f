"""The folders that sentence-transformers reads beside a model: pooling, normalisation, dense layers after it."""

import json
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from gnomon.adapters.checkpoints.json_file import CONFIG_LIMIT, read_bytes, require_file
from gnomon.errors import UnsupportedTargetError

MODULES: Final = "modules.json"


def module_folders(source: Path) -> frozenset[str]:
    """The names of the folders in `source` that its modules.json lists; none when there is no such file, or a bad one.

    A path that leads elsewhere is no folder in `source`, and so is not among them.
    """
    try:
        listed = json.loads(read_bytes(source / MODULES)) if require_file(source / MODULES) <= CONFIG_LIMIT else []
    except (UnsupportedTargetError, ValueError, RecursionError):
        return frozenset()
    paths = [one.get("path") for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
    return frozenset(name for name in paths if isinstance(name, str) and name and Path(name).name == name != "..")


def copy_folder(folder: Path, target: Path) -> None:
    """Copies the files and folders in it; pipes and links that lead nowhere stay."""

    def ignored(place: str, names: Iterable[str]) -> set[str]:
        return {name for name in names if not (Path(place, name).is_file() or Path(place, name).is_dir())}

    shutil.copytree(folder, target, copy_function=shutil.copyfile, ignore=ignored)
