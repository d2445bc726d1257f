"""A checkpoint folder written anew with some tensors changed: the others are copied byte for byte, one chunk at a time.

At no time is more than one tensor in memory. The new folder appears whole or not at all; the old one is only read.
"""

import hashlib
import json
import math
import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, final

from gnomon.adapters.checkpoints.json_file import INDEX_LIMIT, read_json_object
from gnomon.adapters.checkpoints.module_folders import copy_folder, module_folders
from gnomon.adapters.checkpoints.shard import Changed as Changed
from gnomon.adapters.checkpoints.shard import Shard
from gnomon.adapters.checkpoints.weight_files import ADAPTER, SAFE, SAFE_INDEX, weight_files
from gnomon.adapters.checkpoints.whole import whole
from gnomon.errors import GnomonError

#: other files with weights in them: they would keep the old tensors, so they stay behind
WEIGHTS = (
    *(".safetensors", ".bin", ".pt", ".pth", ".ckpt", ".gguf", ".onnx", ".onnx_data", ".h5", ".msgpack"),
    ".index.json",
)


@final
@dataclass(frozen=True)
class Rewritten:
    """What a rewriting did: names changed, the SHA-256 over the bytes of all others, and files left behind."""

    changed: tuple[str, ...]
    untouched: int
    digest: str
    left_behind: tuple[str, ...] = ()


@final
@dataclass(frozen=True)
class Rewriting:
    """What is to be different: tensors by name, small files by name (None leaves one out).

    `made`: large files by name, each written by a function into the path that it is given.
    """

    tensors: Mapping[str, Changed] = field(default_factory=dict)
    files: Mapping[str, bytes | None] = field(default_factory=dict)
    progress: Callable[[str], None] = lambda _: None
    made: Mapping[str, Callable[[Path], None]] = field(default_factory=dict)

    def write(self, source: Path, output: Path) -> Rewritten:
        """Writes `output`, a folder that must not exist yet; raises GnomonError with one sentence, and leaves nothing.

        `source` is a folder with model.safetensors, its index, or the adapter_model.safetensors of peft.
        """
        names = weight_files(source)
        require_new_folder(output, outside=source)
        shards = {name: Shard(source / name, self.tensors) for name in names}
        sizes = {name: size for shard in shards.values() for name, size in shard.sizes.items()}
        if unknown := set(self.tensors) - set(sizes):
            raise GnomonError(f"{source} has no tensor {min(unknown)!r}; nothing is written.")
        with whole(output) as beside:
            beside.mkdir()
            return self._write(source, beside, shards, sizes)

    def _write(self, source: Path, folder: Path, shards: Mapping[str, Shard], sizes: Mapping[str, int]) -> Rewritten:
        digest, untouched, total = hashlib.sha256(), 0, 0
        for name, shard in shards.items():
            self.progress(name)
            for size, old in shard.copied(folder / name, self.progress):
                total += size
                untouched += old is not None
                digest.update(old or b"")
        left = self._others(source, folder, tuple(shards))
        if next(iter(shards)) not in (SAFE, ADAPTER):
            index = read_json_object(source / SAFE_INDEX, limit=INDEX_LIMIT)
            held = index.get("metadata")
            index["metadata"] = self._metadata(held if isinstance(held, Mapping) else {}, sizes, total)
            (folder / SAFE_INDEX).write_text(json.dumps(index, indent=2) + "\n", encoding="utf-8")
        return Rewritten(tuple(self.tensors), untouched, digest.hexdigest(), left)

    def _metadata(self, held: Mapping[str, Any], sizes: Mapping[str, int], total: int) -> dict[str, Any]:
        """The index's metadata with the new sums; a count of parameters stays, but for what changed its shape."""
        new = {**held, "total_size": total}
        if type(count := held.get("total_parameters")) is int:
            grown = sum(math.prod(changed.shape) - sizes[name] for name, changed in self.tensors.items())
            new["total_parameters"] = count + grown
        return new

    def _others(self, source: Path, folder: Path, names: tuple[str, ...]) -> tuple[str, ...]:
        left, modules = [], module_folders(source)
        for path in sorted(source.iterdir()):
            if path.name in (*names, *self.files, *self.made, SAFE_INDEX):
                continue
            if path.name in modules and path.is_dir():
                copy_folder(path, folder / path.name)
            elif not path.is_file() or path.name.endswith(WEIGHTS):  # folders, pipes and links that lead nowhere too
                left.append(path.name)
            else:
                shutil.copyfile(path, folder / path.name)
        for name, content in self.files.items():
            if content is not None:
                (folder / name).write_bytes(content)
        for name, make in self.made.items():
            self.progress(name)
            make(folder / name)
        return tuple(left)


def require_new_folder(output: Path, *, outside: Path | None = None) -> None:
    """Raises GnomonError when the folder is there already, cannot be made where it should stand, or lies in `outside`.

    A name too long for the file system, or one with a null byte, is refused as a place that cannot be written.
    """
    try:
        os.lstat(output)
        there = True
    except (FileNotFoundError, NotADirectoryError):
        there = False
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise GnomonError(f"Cannot write {str(output)[:120]}: {reason}. Choose another place.") from None
    if there:
        raise GnomonError(f"{output} exists already, and nothing is overwritten; name a new folder.")
    if outside is not None and output.resolve().is_relative_to(outside.resolve()):
        raise GnomonError(f"{output} lies in {outside}, which is only read; write somewhere else.")
    if not output.parent.is_dir():
        raise GnomonError(f"The folder {output.parent} does not exist; make it, or write somewhere else.")
    if not os.access(output.parent, os.W_OK):
        raise GnomonError(f"Cannot write into {output.parent}; choose another place.")
