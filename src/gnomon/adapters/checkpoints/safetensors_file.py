"""Tensors of one safetensors file, or of the shards that an index names; values are read one tensor at a time."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, final

from torch import Tensor

from gnomon.adapters.checkpoints.json_file import INDEX_LIMIT, read_json_object
from gnomon.adapters.checkpoints.safetensors_header import read_header
from gnomon.adapters.subject import MissingEvidence
from gnomon.adapters.tensors import TensorInfo, TensorSource
from gnomon.errors import UnsupportedTargetError

PACKED = ("float4_", "float6_")  #: several values share a byte; torch has no arithmetic for them


@final
class SafetensorsFile(TensorSource):
    """One or more safetensors files seen as one set of tensors.

    Every header is checked when the source is made; a bad one raises UnsupportedTargetError. A file is opened, and its
    header read again by the library, at the first tensor asked of it only.
    """

    def __init__(self, *paths: Path) -> None:
        self._infos: dict[str, TensorInfo] = {}
        self._where: dict[str, Path] = {}
        self._open: dict[Path, Any] = {}
        for path in paths:
            for info in read_header(path):
                self._infos[info.name], self._where[info.name] = info, path

    def infos(self) -> tuple[TensorInfo, ...]:
        return tuple(self._infos.values())

    def info(self, name: str) -> TensorInfo:
        return self._infos[name]

    def load(self, name: str) -> Tensor:
        from safetensors import SafetensorError, safe_open

        path, dtype = self._where[name], self._infos[name].dtype
        if dtype.startswith(PACKED):
            raise MissingEvidence(f"the tensor {name} has the dtype {dtype}, whose values torch cannot read")
        try:
            if path not in self._open:
                self._open[path] = safe_open(path, framework="pt", device="cpu")
            tensor: Tensor = self._open[path].get_tensor(name)
        except (SafetensorError, OSError) as error:
            raise UnsupportedTargetError(f"The tensor {name!r} of {path} cannot be read: {error}.") from None
        return tensor


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
