"""One safetensors file on its way to another one: some tensors made anew, the others copied chunk by chunk."""

import hashlib
import json
import math
import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import torch
from torch import Tensor

from gnomon.adapters.checkpoints.safetensors_file import PACKED
from gnomon.adapters.checkpoints.safetensors_header import DTYPES, HEADER_LIMIT, read_header
from gnomon.errors import GnomonError, UnsupportedTargetError

CHUNK = 8 * 2**20  #: bytes copied at a time

Change = Callable[[Tensor], Tensor]


@final
@dataclass(frozen=True)
class Changed:
    """A tensor's new shape, and how its values come from the old ones. The dtype stays."""

    shape: tuple[int, ...]
    make: Change


@final
class Shard:
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
        named = DTYPES[fields["dtype"]][0]
        dtype = None if named.startswith(PACKED) else getattr(torch, named, None)
        if dtype is None:
            raise GnomonError(f"The tensor {name!r} has the dtype {fields['dtype']}, whose values torch cannot read.")
        flat = torch.frombuffer(raw, dtype=dtype) if raw else torch.empty(0, dtype=dtype)  # no buffer is no tensor
        old = flat.reshape(fields["shape"])
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
