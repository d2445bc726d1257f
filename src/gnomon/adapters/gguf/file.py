"""A GGUF file as a Subject: metadata and single tensors at once, the whole model only when it is asked for."""

from pathlib import Path
from typing import Any, final

import numpy as np
import torch
from torch import Tensor

from gnomon.adapters.checkpoints.huggingface import twin_subject
from gnomon.adapters.checkpoints.parts import read_part
from gnomon.adapters.checkpoints.transformers_models import in_full
from gnomon.adapters.example import example_for
from gnomon.adapters.families import family_of
from gnomon.adapters.gguf.config import gguf_config, gguf_tokenizer
from gnomon.adapters.gguf.divisors import NAMES, Lists, with_lists
from gnomon.adapters.gguf.header import Header, Stored, read_gguf
from gnomon.adapters.gguf.model import GGUFModel
from gnomon.adapters.placement import NO_FORWARD, parse_device, parse_dtype
from gnomon.adapters.subject import Absent, Lazy, Subject
from gnomon.adapters.tensors import TensorInfo, TensorSource
from gnomon.errors import UnsupportedTargetError

MOST_DIVISORS = 65536
PLAIN = {
    "F64": torch.float64,
    "F32": torch.float32,
    "F16": torch.float16,
    "BF16": torch.bfloat16,
    "I64": torch.int64,
    "I32": torch.int32,
    "I16": torch.int16,
    "I8": torch.int8,
}


@final
class GGUFTensors(TensorSource):
    """Tensors of a GGUF file under their GGUF names, in torch's order of dimensions; blocks are dequantised."""

    def __init__(self, path: Path, header: Header) -> None:
        self._path = path
        self._stored = {stored.name: stored for stored in header.tensors}

    def infos(self) -> tuple[TensorInfo, ...]:
        return tuple(TensorInfo(s.name, s.shape, _dtype_name(s.type)) for s in self._stored.values())

    def load(self, name: str) -> Tensor:
        stored = self._stored[name]
        kind = _type_name(stored.type)
        with self._path.open("rb") as file:
            raw = np.frombuffer(read_part(file, stored.begin, stored.size), dtype=np.uint8)
        if kind in PLAIN:
            return torch.from_numpy(raw).view(PLAIN[kind]).reshape(stored.shape)
        return torch.from_numpy(_dequantised(raw, stored, self._path)).reshape(stored.shape)


def gguf_subject(
    path: Path,
    *,
    device: torch.device | str | None = None,
    dtype: torch.dtype | str | None = None,
    forward: bool = True,
) -> Subject:
    """The metadata as config and claims, the tensors one by one, and the model through transformers when asked for.

    Raises UnsupportedTargetError with one sentence for a file that is truncated, hostile or no GGUF file.
    """
    place, number = parse_device(device), parse_dtype(dtype)
    require_gguf()
    header = read_gguf(path)
    tensors = GGUFTensors(path, header)
    read = with_lists(gguf_config(header.metadata), header.metadata, read_lists(path, tensors))
    model = GGUFModel(path, read, place, number)
    subject = Subject(
        str(path),
        config=read.config,
        claims=Lazy(read.claims),
        family=Lazy(lambda: family_of(read.config)),
        tensors=tensors,
        module=Lazy(lambda: in_full(model.loaded)) if forward else Absent(NO_FORWARD),
        loading=Lazy(lambda: model.loaded[1]) if forward else Absent(NO_FORWARD),
        example=Lazy(lambda: example_for(subject, None, place)),
        tokenizer=gguf_tokenizer(header.metadata),
        trained=True,
    )
    return subject


def read_lists(path: Path, tensors: TensorSource) -> Lists:
    """The lists of divisors in the file; raises UnsupportedTargetError for one that is no list."""
    sizes = {info.name: info.shape for info in tensors.infos()}
    there = [name for name in NAMES if name in sizes]
    for name in there:
        if len(sizes[name]) != 1 or sizes[name][0] > MOST_DIVISORS:
            raise UnsupportedTargetError(f"{path} is not usable: {name} has the shape {sizes[name]}, and is no list.")
    return {name: tuple(float(value) for value in tensors.load(name).double()) for name in there}


def gguf_twin(path: Path, *, device: Any = None, dtype: Any = None) -> Subject:
    """The shrunken twin of the model that a GGUF file's metadata describes; no tensor is read."""
    require_gguf()
    return twin_subject(path, gguf_config(read_gguf(path).metadata).config, device, dtype)


def require_gguf() -> None:
    """Raise UnsupportedTargetError unless the gguf package is there."""
    try:
        import gguf.constants  # noqa: F401
    except ImportError:
        raise UnsupportedTargetError("Reading a GGUF file needs the gguf package: pip install gnomon[gguf].") from None


def _type_name(kind: int) -> str:
    from gguf.constants import GGMLQuantizationType

    name: str = GGMLQuantizationType(kind).name
    return name


def _dtype_name(kind: int) -> str:
    name = _type_name(kind)
    return str(PLAIN[name]).removeprefix("torch.") if name in PLAIN else name


def _dequantised(raw: np.ndarray[Any, Any], stored: Stored, path: Path) -> np.ndarray[Any, Any]:
    from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType
    from gguf.quants import dequantize

    kind = GGMLQuantizationType(stored.type)
    block, size = GGML_QUANT_SIZES[kind]
    try:
        values: np.ndarray[Any, Any] = dequantize(raw.reshape(-1, stored.shape[-1] // block * size), kind)
    except NotImplementedError:
        raise UnsupportedTargetError(
            f"The tensor {stored.name!r} of {path} has the type {kind.name}, which the gguf package cannot dequantise."
        ) from None
    return values
