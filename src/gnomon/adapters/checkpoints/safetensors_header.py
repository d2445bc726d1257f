"""A strict look at a safetensors header before any library opens the file: hostile and truncated files end here; and
the header of a new file.

Format: 8 bytes little-endian length N, N bytes of JSON, then the data. Source: the safetensors README, "Format".
"""

import json
import math
import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, TypeGuard, final

import torch

from gnomon.adapters.checkpoints.json_file import parse_json_object, require_file
from gnomon.adapters.tensors import TensorInfo
from gnomon.adapters.wording import shown
from gnomon.errors import GnomonError, UnsupportedTargetError

HEADER_LIMIT = 100 * 10**6  # the safetensors library's own cap
LARGEST = 2**63
DTYPES = {
    "F64": ("float64", 64),
    "F32": ("float32", 32),
    "F16": ("float16", 16),
    "BF16": ("bfloat16", 16),
    "F8_E4M3": ("float8_e4m3fn", 8),
    "F8_E5M2": ("float8_e5m2", 8),
    "F8_E8M0": ("float8_e8m0fnu", 8),
    "F4": ("float4_e2m1fn_x2", 4),
    "F6_E2M3": ("float6_e2m3", 6),
    "F6_E3M2": ("float6_e3m2", 6),
    "I64": ("int64", 64),
    "I32": ("int32", 32),
    "I16": ("int16", 16),
    "I8": ("int8", 8),
    "BOOL": ("bool", 8),
    "U64": ("uint64", 64),
    "U32": ("uint32", 32),
    "U16": ("uint16", 16),
    "U8": ("uint8", 8),
    "C64": ("complex64", 64),
}


METADATA: Final = "__metadata__"
PACKED: Final = ("float4_", "float6_")  #: several values share a byte; torch has no arithmetic for them


@final
@dataclass(frozen=True)
class Placed:
    """A tensor, and the bytes of the file that hold it: from `begin` up to `end`. `kind` is the format's name of the
    dtype ("BF16").
    """

    info: TensorInfo
    kind: str
    begin: int
    end: int

    @property
    def dtype(self) -> torch.dtype | None:
        """None where torch has no arithmetic for it."""
        name = self.info.dtype
        found = None if name.startswith(PACKED) else getattr(torch, name, None)
        return found if isinstance(found, torch.dtype) else None

    def tensor(self, raw: bytearray) -> torch.Tensor:
        """Its bytes as a tensor, not copied; raises GnomonError where torch has no arithmetic for its dtype."""
        if self.dtype is None:
            name = self.info.name
            raise GnomonError(f"The tensor {name!r} has the dtype {self.kind}, whose values torch cannot read.")
        flat = torch.frombuffer(raw, dtype=self.dtype) if raw else torch.empty(0, dtype=self.dtype)  # it takes no b""
        return flat.reshape(self.info.shape)


@final
@dataclass(frozen=True)
class SafetensorsHeader:
    """`tensors` in the order of the header; `metadata` as it is, None where there is none."""

    tensors: tuple[Placed, ...]
    metadata: Any = None


def read_header(path: Path) -> SafetensorsHeader:
    """What a safetensors file says it holds; raises UnsupportedTargetError unless every number in it is sane."""
    size = require_file(path)
    raw = _header_bytes(path, size)
    header = parse_json_object(raw, f"The header of {path}")
    start = 8 + len(raw)
    placed = [_placed(path, name, fields, start, size) for name, fields in header.items() if name != METADATA]
    filled = sorted((one for one in placed if one.end > one.begin), key=lambda one: one.begin)
    for before, after in pairwise(filled):
        if after.begin < before.end:
            raise _bad(path, f"the tensors {shown(before.info.name)} and {shown(after.info.name)} overlap")
    return SafetensorsHeader(tuple(placed), header.get(METADATA))


def header_bytes(tensors: Iterable[tuple[TensorInfo, str]], metadata: Any) -> bytes:
    """How a file starts that holds these tensors one after the other, each with the format's name of its dtype.

    Padded to a multiple of 8 bytes; raises GnomonError for a header longer than readers take.
    """
    fields: dict[str, Any] = {} if metadata is None else {METADATA: metadata}
    end = 0
    for info, kind in tensors:
        begin, end = end, end + stored_bytes(info.shape, kind)
        fields[info.name] = {"dtype": kind, "shape": list(info.shape), "data_offsets": [begin, end]}
    raw = json.dumps(fields, separators=(",", ":")).encode()
    raw += b" " * (-len(raw) % 8)
    if len(raw) > HEADER_LIMIT:
        raise GnomonError(f"The new header would have {len(raw):,} bytes, more than readers take.")
    return struct.pack("<Q", len(raw)) + raw


def stored_bytes(shape: tuple[int, ...], kind: str) -> int:
    """How many bytes a tensor takes in a file.

    >>> stored_bytes((3, 2), "BF16"), stored_bytes((4,), "F4")
    (12, 2)
    """
    return math.prod(shape) * DTYPES[kind][1] // 8


def _header_bytes(path: Path, size: int) -> bytes:
    try:
        with path.open("rb") as file:
            start = file.read(8)
            if len(start) < 8:
                raise _bad(path, f"it has {size} bytes, too few for a header")
            (length,) = struct.unpack("<Q", start)
            if length > HEADER_LIMIT:
                raise _bad(path, f"its header claims {length:,} bytes, more than the {HEADER_LIMIT:,} allowed")
            if length > size - 8:
                raise _bad(path, f"its header claims {length:,} bytes, but only {size - 8:,} follow")
            return file.read(length)
    except OSError as error:
        raise UnsupportedTargetError(f"{path} cannot be read: {error.strerror}.") from None


def _placed(path: Path, name: str, fields: Any, start: int, size: int) -> Placed:
    data = size - start
    if not isinstance(fields, Mapping):
        raise _bad(path, f"its entry for {shown(name)} is not an object")
    dtype, shape, offsets = fields.get("dtype"), fields.get("shape"), fields.get("data_offsets")
    if not isinstance(dtype, str) or dtype not in DTYPES:
        raise _bad(path, f"the tensor {shown(name)} has the unknown dtype {shown(dtype)}")
    if not _sizes(shape, most=64):
        raise _bad(path, f"the tensor {shown(name)} has no usable shape: {shown(shape)}")
    if not _sizes(offsets, most=2) or len(offsets) != 2 or not offsets[0] <= offsets[1] <= data:
        raise _bad(path, f"the tensor {shown(name)} has offsets {shown(offsets)}, outside the {data:,} bytes of data")
    bits = math.prod(shape) * DTYPES[dtype][1]
    if bits != 8 * (offsets[1] - offsets[0]):
        held = offsets[1] - offsets[0]
        raise _bad(path, f"the tensor {shown(name)} needs {bits // 8:,} bytes, but {held:,} are given")
    return Placed(TensorInfo(name, tuple(shape), DTYPES[dtype][0]), dtype, start + offsets[0], start + offsets[1])


def _sizes(value: Any, *, most: int) -> TypeGuard[list[int]]:
    """Whether this is a short list of whole numbers that are not negative and fit into 63 bits."""
    return isinstance(value, list) and len(value) <= most and all(type(v) is int and 0 <= v < LARGEST for v in value)


def _bad(path: Path, reason: str) -> UnsupportedTargetError:
    return UnsupportedTargetError(f"{path} is not a usable safetensors file: {reason}.")
