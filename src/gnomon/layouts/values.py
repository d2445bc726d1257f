"""Tensors of safetensors files read one at a time, into memory of their own: nothing of a file stays mapped."""

import json
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any, final

import torch
from torch import Tensor

from gnomon.adapters.checkpoints.rewriting import weight_files
from gnomon.adapters.checkpoints.safetensors_header import DTYPES, read_header
from gnomon.adapters.tensors import TensorInfo, TensorSource
from gnomon.errors import GnomonError, UnsupportedTargetError


@final
class FolderTensors(TensorSource):
    """The tensors of a folder with model.safetensors, its shards, or the adapter_model.safetensors of peft.

    Raises UnsupportedTargetError for a folder without such files, and for a file that is broken.
    """

    def __init__(self, folder: Path) -> None:
        self._infos: dict[str, TensorInfo] = {}
        self._where: dict[str, tuple[Path, int, int, str]] = {}
        for path in (folder / name for name in weight_files(folder)):
            self._infos |= {info.name: info for info in read_header(path)}
            self._where |= dict(_places(path))

    def infos(self) -> tuple[TensorInfo, ...]:
        return tuple(self._infos.values())

    def load(self, name: str) -> Tensor:
        path, begin, size, kind = self._where[name]
        dtype = getattr(torch, DTYPES[kind][0], None)
        if dtype is None:
            raise GnomonError(f"The tensor {name!r} has the dtype {kind}, whose values torch cannot read.")
        raw = bytearray(size)
        with path.open("rb") as file:
            file.seek(begin)
            if file.readinto(raw) < size:
                raise UnsupportedTargetError(f"{path} became shorter while it was read.")
        return torch.frombuffer(raw, dtype=dtype).reshape(self._infos[name].shape)


def _places(path: Path) -> Iterator[tuple[str, tuple[Path, int, int, str]]]:
    """Where each tensor of a file whose header has been checked begins, its bytes, and its dtype."""
    with path.open("rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header: dict[str, Any] = json.loads(file.read(length))
    for name, fields in header.items():
        if name != "__metadata__":
            begin, end = fields["data_offsets"]
            yield name, (path, 8 + length + begin, end - begin, fields["dtype"])
