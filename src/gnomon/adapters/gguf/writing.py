"""A GGUF file written anew beside other metadata and lists, one chunk at a time.

Format: github.com/ggml-org/ggml, docs/gguf.md.
"""

import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np
from jaxtyping import Float32

from gnomon.adapters.checkpoints.parts import chunks
from gnomon.adapters.checkpoints.whole import whole
from gnomon.adapters.gguf.header import MAGIC, Stored
from gnomon.adapters.gguf.pairs import Head, encoded, written

F32: Final = 0  #: the GGUF type of a list

F32Lists = Mapping[str, Float32[np.ndarray, " pairs"]]  #: by name of their tensor


def write_gguf(head: Head, output: Path, keys: Mapping[str, Any], lists: F32Lists) -> None:
    """Writes the file `output`: that of `head` with the metadata `keys` and the tensors `lists` set.

    A key that is there keeps its place and its type of number, a list its place; new ones come last. Raises GnomonError
    with one sentence, and leaves nothing; `output` must not exist.
    """
    with whole(output) as beside, beside.open("xb") as new:
        _write(head, new, keys, lists)


def _write(head: Head, new: BinaryIO, keys: Mapping[str, Any], lists: F32Lists) -> None:
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
            for chunk in _bytes(old, stored, lists):
                new.write(chunk)
            new.write(bytes(-stored.size % head.alignment))


def _tensors(head: Head, lists: F32Lists) -> list[Stored]:
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


def _bytes(old: BinaryIO, stored: Stored, lists: F32Lists) -> Iterator[bytes]:
    if stored.name in lists:
        yield np.ascontiguousarray(lists[stored.name], dtype="<f4").tobytes()
        return
    yield from chunks(old, stored.begin, stored.size)


def _padded(size: int, alignment: int) -> int:
    return size + -size % alignment
