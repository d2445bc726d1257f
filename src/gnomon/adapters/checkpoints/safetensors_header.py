"""A strict look at a safetensors header before any library opens the file: hostile and truncated files end here.

Format: 8 bytes little-endian length N, N bytes of JSON, then the data. Source: the safetensors README, "Format".
"""

import math
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeGuard

from gnomon.adapters.checkpoints.json_file import parse_json_object, require_file
from gnomon.adapters.tensors import TensorInfo
from gnomon.adapters.wording import shown
from gnomon.errors import UnsupportedTargetError

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


@dataclass(frozen=True)
class _Entry:
    info: TensorInfo
    begin: int
    end: int


def read_header(path: Path) -> tuple[TensorInfo, ...]:
    """The tensors that a safetensors file names; raises UnsupportedTargetError unless every number in it is sane."""
    size = require_file(path)
    raw = _header_bytes(path, size)
    header = parse_json_object(raw, f"The header of {path}")
    data = size - 8 - len(raw)
    entries = [_entry(path, name, fields, data) for name, fields in header.items() if name != "__metadata__"]
    filled = sorted((entry for entry in entries if entry.end > entry.begin), key=lambda entry: entry.begin)
    for before, after in pairwise(filled):
        if after.begin < before.end:
            raise _bad(path, f"the tensors {shown(before.info.name)} and {shown(after.info.name)} overlap")
    return tuple(entry.info for entry in entries)


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


def _entry(path: Path, name: str, fields: Any, data: int) -> _Entry:
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
    return _Entry(TensorInfo(name, tuple(shape), DTYPES[dtype][0]), offsets[0], offsets[1])


def _sizes(value: Any, *, most: int) -> TypeGuard[list[int]]:
    """Whether this is a short list of whole numbers that are not negative and fit into 63 bits."""
    return isinstance(value, list) and len(value) <= most and all(type(v) is int and 0 <= v < LARGEST for v in value)


def _bad(path: Path, reason: str) -> UnsupportedTargetError:
    return UnsupportedTargetError(f"{path} is not a usable safetensors file: {reason}.")
