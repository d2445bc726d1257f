"""Puts small data sets where `gnomon lab data` would put them; GNOMON_CACHE must lead to a folder of the test."""

import hashlib
from collections.abc import Mapping

from gnomon.cache import cache_root
from gnomon.lab.data.cache import Stored, keep


def store(name: str, texts: Mapping[str, str]) -> None:
    contents = {file: text.encode() for file, text in texts.items()}
    digests = {file: hashlib.sha256(content).hexdigest() for file, content in contents.items()}
    origin = {"manager": "test", "package": name, "version": "0", "sha256": "0" * 64}
    keep(Stored(name, cache_root() / "data" / name, digests, (origin,), "none", "2026-01-01"), contents)


def numbered(start: int, size: int) -> str:
    """A text of `size` different characters; texts whose starts are far enough apart share none."""
    return "".join(chr(0x4E00 + start + place) for place in range(size))
