"""Tensors of one safetensors file, or of the shards that an index names; values are read one tensor at a time."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, final

from torch import Tensor

from gnomon.adapters.checkpoints.json_file import INDEX_LIMIT, read_json_object
from gnomon.adapters.checkpoints.parts import read_part
from gnomon.adapters.checkpoints.safetensors_header import Placed, read_header
from gnomon.adapters.subject import MissingEvidence
from gnomon.adapters.tensors import TensorInfo, TensorSource
from gnomon.errors import UnsupportedTargetError


@final
class SafetensorsFile(TensorSource):
    """One or more safetensors files seen as one set of tensors.

    Every header is checked when the source is made; a bad one raises UnsupportedTargetError. A file is opened, and its
    header read again by the library, at the first tensor asked of it only.

    With `mapped=False` each tensor is read into memory of its own and no file stays open: what is dropped is free
    again, where pages of a mapped file stay resident. A dtype that torch cannot read then raises GnomonError.
    """

    def __init__(self, *paths: Path, mapped: bool = True) -> None:
        self._placed: dict[str, tuple[Path, Placed]] = {}
        self._open: dict[Path, Any] = {}
        self._mapped = mapped
        for path in paths:
            self._placed |= {placed.info.name: (path, placed) for placed in read_header(path).tensors}

    def infos(self) -> tuple[TensorInfo, ...]:
        return tuple(placed.info for _, placed in self._placed.values())

    def info(self, name: str) -> TensorInfo:
        return self._placed[name][1].info

    def load(self, name: str) -> Tensor:
        path, placed = self._placed[name]
        return self._view(path, placed) if self._mapped else _read(path, placed)

    def _view(self, path: Path, placed: Placed) -> Tensor:
        from safetensors import SafetensorError, safe_open

        name = placed.info.name
        if placed.dtype is None:
            dtype = placed.info.dtype
            raise MissingEvidence(f"the tensor {name} has the dtype {dtype}, whose values torch cannot read")
        try:
            if path not in self._open:
                self._open[path] = safe_open(path, framework="pt", device="cpu")
            tensor: Tensor = self._open[path].get_tensor(name)
        except (SafetensorError, OSError) as error:
            raise UnsupportedTargetError(f"The tensor {name!r} of {path} cannot be read: {error}.") from None
        return tensor


def _read(path: Path, placed: Placed) -> Tensor:
    try:
        with path.open("rb") as file:
            return placed.tensor(read_part(file, placed.begin, placed.end - placed.begin))
    except OSError as error:
        raise UnsupportedTargetError(f"{path} cannot be read: {error.strerror}.") from None


def shards(index: Path) -> tuple[Path, ...]:
    """The files that a `*.index.json` names: plain file names beside it, each of which exists."""
    files = read_json_object(index, limit=INDEX_LIMIT).get("weight_map")
    if not isinstance(files, Mapping) or not files:
        raise UnsupportedTargetError(f"{index} has no weight_map that says which file holds which tensor.")
    paths = []
    for name in dict.fromkeys(map(str, files.values())):
        if Path(name).name != name or name in (".", ".."):
            raise UnsupportedTargetError(f"{index} names the shard {name!r}, which is not a file beside it.")
        if not (index.parent / name).exists():
            raise UnsupportedTargetError(f"{index} names the shard {name!r}, which does not exist.")
        paths.append(index.parent / name)
    return tuple(paths)
