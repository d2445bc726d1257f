"""A checkpoint folder written anew with some tensors changed: the others are copied byte for byte, one chunk at a time.

At no time is more than one tensor in memory. The new folder appears whole or not at all; the old one is only read.
"""

import hashlib
import json
import math
import os
import secrets
import shutil
import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, final

import torch
from torch import Tensor

from gnomon.adapters.checkpoints.huggingface import SAFE, SAFE_INDEX
from gnomon.adapters.checkpoints.json_file import INDEX_LIMIT, read_json_object
from gnomon.adapters.checkpoints.safetensors_file import shards
from gnomon.adapters.checkpoints.safetensors_header import DTYPES, HEADER_LIMIT, read_header
from gnomon.errors import GnomonError, UnsupportedTargetError

CHUNK = 8 * 2**20  #: bytes copied at a time
#: other files with weights in them: they would keep the old tensors, so they stay behind
WEIGHTS = (
    *(".safetensors", ".bin", ".pt", ".pth", ".ckpt", ".gguf", ".onnx", ".onnx_data", ".h5", ".msgpack"),
    ".index.json",
)
ADAPTER = "adapter_model.safetensors"  #: what peft writes

Change = Callable[[Tensor], Tensor]


@final
@dataclass(frozen=True)
class Changed:
    """A tensor's new shape, and how its values come from the old ones. The dtype stays."""

    shape: tuple[int, ...]
    make: Change


@final
@dataclass(frozen=True)
class Rewritten:
    """What a rewriting did: names changed, the SHA-256 over the bytes of all others, and files left behind."""

    changed: tuple[str, ...]
    untouched: int
    digest: str
    left_behind: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


@final
@dataclass(frozen=True)
class Rewriting:
    """What is to be different: tensors by name, small files by name (None leaves one out)."""

    tensors: Mapping[str, Changed] = field(default_factory=dict)
    files: Mapping[str, bytes | None] = field(default_factory=dict)
    progress: Callable[[str], None] = lambda _: None

    def write(self, source: Path, output: Path) -> Rewritten:
        """Writes `output`, a folder that must not exist yet; raises GnomonError with one sentence, and leaves nothing.

        `source` is a folder with model.safetensors, its index, or the adapter_model.safetensors of peft.
        """
        names = weight_files(source)
        require_new_folder(output)
        unknown = set(self.tensors) - {info.name for name in names for info in read_header(source / name)}
        if unknown:
            raise GnomonError(f"{source} has no tensor {min(unknown)!r}; nothing is written.")
        beside = output.with_name(f".{output.name}.{secrets.token_hex(4)}.part")
        try:
            beside.mkdir()
            result = self._write(source, beside, names)
            beside.replace(output)
        except OSError as error:
            raise GnomonError(f"Cannot write {output}: {error.strerror}. Choose another place.") from error
        finally:
            shutil.rmtree(beside, ignore_errors=True)
        return result

    def _write(self, source: Path, folder: Path, names: tuple[str, ...]) -> Rewritten:
        digest, untouched, total = hashlib.sha256(), 0, 0
        for name in names:
            self.progress(name)
            for tensor, old in _Shard(source / name, self.tensors).copied(folder / name, self.progress):
                total += tensor
                untouched += old is not None
                digest.update(old or b"")
        left = self._others(source, folder, names)
        if names[0] not in (SAFE, ADAPTER):
            index = read_json_object(source / SAFE_INDEX, limit=INDEX_LIMIT)
            held = index.get("metadata")
            index["metadata"] = {**(held if isinstance(held, Mapping) else {}), "total_size": total}
            (folder / SAFE_INDEX).write_text(json.dumps(index, indent=2) + "\n", encoding="utf-8")
        return Rewritten(tuple(self.tensors), untouched, digest.hexdigest(), left, tuple(self.files))

    def _others(self, source: Path, folder: Path, names: tuple[str, ...]) -> tuple[str, ...]:
        left = []
        for path in sorted(source.iterdir()):
            if path.name in (*names, *self.files, SAFE_INDEX):
                continue
            if path.is_dir() or path.name.endswith(WEIGHTS):
                left.append(path.name)
            else:
                shutil.copyfile(path, folder / path.name)
        for name, content in self.files.items():
            if content is not None:
                (folder / name).write_bytes(content)
        return tuple(left)


def weight_files(source: Path) -> tuple[str, ...]:
    """The names of the safetensors files of a folder; raises UnsupportedTargetError when it has none."""
    if (source / SAFE).exists():
        return (SAFE,)
    if (source / SAFE_INDEX).exists():
        return tuple(path.name for path in shards(source / SAFE_INDEX))
    if (source / ADAPTER).exists():
        return (ADAPTER,)
    raise UnsupportedTargetError(f"{source} has no {SAFE} and no {SAFE_INDEX}; save the model as safetensors first.")


def require_new_folder(output: Path) -> None:
    """Raises GnomonError when the folder is there already, or cannot be made where it should stand."""
    if output.exists() or output.is_symlink():
        raise GnomonError(f"{output} exists already, and nothing is overwritten; name a new folder.")
    if not output.parent.is_dir():
        raise GnomonError(f"The folder {output.parent} does not exist; make it, or write somewhere else.")
    if not os.access(output.parent, os.W_OK):
        raise GnomonError(f"Cannot write into {output.parent}; choose another place.")


@final
class _Shard:
    """One safetensors file on its way to another one."""

    def __init__(self, path: Path, tensors: Mapping[str, Changed]) -> None:
        read_header(path)  # every number in it is sane from here on
        with path.open("rb") as file:
            (length,) = struct.unpack("<Q", file.read(8))
            self._header: dict[str, Any] = json.loads(file.read(length))
        self._path, self._start, self._tensors = path, 8 + length, tensors
        self._names = sorted(
            (name for name in self._header if name != "__metadata__"),
            key=lambda name: self._header[name]["data_offsets"],
        )

    def copied(self, target: Path, progress: Callable[[str], None]) -> Iterator[tuple[int, bytes | None]]:
        """Writes the file; yields each tensor's bytes on disk, and the SHA-256 of name and bytes of an old one."""
        header, end = {}, 0
        for name in self._names:
            size = self._size(name)
            fields = {**self._header[name], "shape": list(self._shape(name)), "data_offsets": [end, end + size]}
            header[name], end = fields, end + size
        metadata = {"__metadata__": self._header["__metadata__"]} if "__metadata__" in self._header else {}
        raw = json.dumps({**metadata, **header}, separators=(",", ":")).encode()
        raw += b" " * (-len(raw) % 8)
        if len(raw) > HEADER_LIMIT:
            raise GnomonError(f"The header of {target.name} would have {len(raw):,} bytes, more than readers take.")
        with self._path.open("rb") as old, target.open("xb") as new:
            new.write(struct.pack("<Q", len(raw)) + raw)
            for name in self._names:
                begin, stop = self._header[name]["data_offsets"]
                old.seek(self._start + begin)
                if name in self._tensors:
                    progress(name)
                    raw_tensor = bytearray(stop - begin)
                    if old.readinto(raw_tensor) < len(raw_tensor):
                        raise UnsupportedTargetError(f"{self._path} became shorter while it was read.")
                    new.write(self._made(name, raw_tensor))
                    yield self._size(name), None
                else:
                    yield stop - begin, _copy(old, new, stop - begin, name)

    def _shape(self, name: str) -> tuple[int, ...]:
        return self._tensors[name].shape if name in self._tensors else tuple(self._header[name]["shape"])

    def _size(self, name: str) -> int:
        return math.prod(self._shape(name)) * DTYPES[self._header[name]["dtype"]][1] // 8

    def _made(self, name: str, raw: bytearray) -> memoryview:
        fields = self._header[name]
        dtype = getattr(torch, DTYPES[fields["dtype"]][0], None)
        if dtype is None:
            raise GnomonError(f"The tensor {name!r} has the dtype {fields['dtype']}, whose values torch cannot read.")
        old = torch.frombuffer(raw, dtype=dtype).reshape(fields["shape"])
        new = self._tensors[name].make(old)
        if new.shape != self._shape(name) or new.dtype != dtype:
            announced = f"{self._shape(name)} in {dtype} was announced"
            raise GnomonError(f"The new {name!r} is {tuple(new.shape)} in {new.dtype}, but {announced}.")
        return new.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().data


def _copy(old: Any, new: Any, size: int, name: str) -> bytes:
    digest, left = hashlib.sha256(name.encode()), size
    while left:
        chunk = old.read(min(CHUNK, left))
        if not chunk:
            raise UnsupportedTargetError(
                f"The file ends inside the tensor {name!r}; it became shorter while it was read."
            )
        new.write(chunk)
        digest.update(chunk)
        left -= len(chunk)
    return digest.digest()
