"""One safetensors file on its way to another one: some tensors made anew, the others copied chunk by chunk."""

import hashlib
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO, final

import torch
from torch import Tensor

from gnomon.adapters.checkpoints.parts import chunks, read_part
from gnomon.adapters.checkpoints.safetensors_header import Placed, header_bytes, read_header
from gnomon.errors import GnomonError

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
        header = read_header(path)
        self._path, self._metadata, self._tensors = path, header.metadata, tensors
        self._placed = sorted(header.tensors, key=lambda placed: (placed.begin, placed.end))

    @property
    def sizes(self) -> Mapping[str, int]:
        """How many values each tensor has now."""
        return {placed.info.name: math.prod(placed.info.shape) for placed in self._placed}

    def copied(self, target: Path, progress: Callable[[str], None]) -> Iterator[tuple[int, bytes | None]]:
        """Writes the file; yields each tensor's bytes on disk, and the SHA-256 of name and bytes of an old one."""
        infos = [replace(placed.info, shape=self._shape(placed)) for placed in self._placed]
        start = header_bytes(zip(infos, (placed.kind for placed in self._placed), strict=True), self._metadata)
        with self._path.open("rb") as old, target.open("xb") as new:
            new.write(start)
            for placed in self._placed:
                name, size = placed.info.name, placed.end - placed.begin
                if name in self._tensors:
                    progress(name)
                    made = self._made(placed, read_part(old, placed.begin, size))
                    new.write(made)
                    yield made.nbytes, None
                else:
                    yield size, _copy(old, new, placed)

    def _shape(self, placed: Placed) -> tuple[int, ...]:
        name = placed.info.name
        return self._tensors[name].shape if name in self._tensors else placed.info.shape

    def _made(self, placed: Placed, raw: bytearray) -> memoryview:
        old, name, shape = placed.tensor(raw), placed.info.name, self._shape(placed)
        new = self._tensors[name].make(old)
        if new.shape != shape or new.dtype != placed.dtype:
            announced = f"{shape} in {placed.dtype} was announced"
            raise GnomonError(f"The new {name!r} is {tuple(new.shape)} in {new.dtype}, but {announced}.")
        return new.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().data


def _copy(old: BinaryIO, new: BinaryIO, placed: Placed) -> bytes:
    digest = hashlib.sha256(placed.info.name.encode())
    for chunk in chunks(old, placed.begin, placed.end - placed.begin):
        new.write(chunk)
        digest.update(chunk)
    return digest.digest()
