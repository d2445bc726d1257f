"""A GGUF file written anew beside other metadata and lists, one chunk at a time; it appears whole or not at all."""

import os
import secrets
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from jaxtyping import Float32

from gnomon.adapters.gguf.header import MAGIC, Stored
from gnomon.errors import GnomonError, UnsupportedTargetError
from gnomon.extending.gguf.pairs import Head, encoded, written

CHUNK = 8 * 2**20
F32 = 0  #: the GGUF type of a list


def write_gguf(
    head: Head, output: Path, keys: Mapping[str, Any], lists: Mapping[str, Float32[np.ndarray, " pairs"]]
) -> None:
    """Raises GnomonError with one sentence, and leaves nothing; `output` must not exist."""
    beside = output.with_name(f".{output.name}.{secrets.token_hex(4)}.part")
    try:
        with beside.open("xb") as new:
            _write(head, new, keys, lists)
            new.flush()
            os.fsync(new.fileno())
        beside.replace(output)
    except OSError as error:
        raise GnomonError(f"Cannot write {output}: {error.strerror or error}. Choose another place.") from error
    finally:
        beside.unlink(missing_ok=True)


def require_new_file(output: Path) -> None:
    """Raises GnomonError when the file is there already, or cannot be made where it should stand."""
    from gnomon.plots.files import try_writing

    if output.suffix.lower() != ".gguf":
        raise GnomonError(
            f"A GGUF file is extended into another one; name {output.name or 'it'} with .gguf at its end."
        )
    try_writing(output)
    if output.exists() or output.is_symlink():
        raise GnomonError(f"{output} exists already, and nothing is overwritten; name a new file.")


def _write(
    head: Head, new: BinaryIO, keys: Mapping[str, Any], lists: Mapping[str, Float32[np.ndarray, " pairs"]]
) -> None:
    pairs = {**head.pairs, **{key: encoded(key, value, head.pairs.get(key)) for key, value in keys.items()}}
    tensors = _tensors(head, lists)
    entries, offset = [], 0
    for stored in tensors:
        entries.append(_entry(stored, offset))
        offset += _padded(stored.size, head.alignment)
    start = MAGIC + struct.pack("<IQQ", head.version, len(tensors), len(pairs)) + written(pairs) + b"".join(entries)
    new.write(start)
    new.write(bytes(-len(start) % head.alignment))
    with head.path.open("rb") as old:
        for stored in tensors:
            for chunk in _bytes(head, old, stored, lists):
                new.write(chunk)
            new.write(bytes(-stored.size % head.alignment))


def _tensors(head: Head, lists: Mapping[str, Float32[np.ndarray, " pairs"]]) -> list[Stored]:
    """Those of the file in the order of their data, lists of the same name in their place, new ones at the end."""
    old = sorted(head.header.tensors, key=lambda stored: stored.begin)
    made = {name: Stored(name, values.shape, F32, 0, values.nbytes) for name, values in lists.items()}
    there = {stored.name for stored in old}
    return [made.get(stored.name, stored) for stored in old] + [s for name, s in made.items() if name not in there]


def _entry(stored: Stored, offset: int) -> bytes:
    name = stored.name.encode()
    sizes = struct.pack(f"<{len(stored.shape)}Q", *reversed(stored.shape))
    return b"".join(
        (
            struct.pack("<Q", len(name)),
            name,
            struct.pack("<I", len(stored.shape)),
            sizes,
            struct.pack("<IQ", stored.type, offset),
        )
    )


def _bytes(
    head: Head, old: BinaryIO, stored: Stored, lists: Mapping[str, Float32[np.ndarray, " pairs"]]
) -> Iterator[bytes]:
    if stored.name in lists:
        yield np.ascontiguousarray(lists[stored.name], dtype="<f4").tobytes()
        return
    old.seek(stored.begin)
    left = stored.size
    while left:
        chunk = old.read(min(CHUNK, left))
        if not chunk:
            raise UnsupportedTargetError(f"{head.path} became shorter while it was read.")
        yield chunk
        left -= len(chunk)


def _padded(size: int, alignment: int) -> int:
    return size + -size % alignment
