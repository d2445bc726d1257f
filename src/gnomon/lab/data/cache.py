"""Data sets on this machine: a folder each, with a manifest that says where its files are from and what they are.

They lie in the folder `data` of the user's cache.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from gnomon.cache import cache_root
from gnomon.errors import GnomonError
from gnomon.plots.files import write_whole

MANIFEST = "manifest.json"
FORMAT = 1  #: raised when the files of a data set would be read in another way


@final
@dataclass(frozen=True)
class Stored:
    """A data set that was fetched. What it holds is compared with the manifest whenever it is read."""

    name: str
    folder: Path
    files: Mapping[str, str]  #: the SHA-256 of each
    origins: tuple[Mapping[str, str], ...]
    licence: str
    fetched: str  #: the day

    @property
    def checksum(self) -> str:
        """Of all files, so of what a task reads: equal on machines with equal data."""
        told = "".join(f"{name} {digest}\n" for name, digest in sorted(self.files.items()))
        return hashlib.sha256(told.encode()).hexdigest()

    def read(self, file: str) -> bytes:
        """The content of a file; raises GnomonError when it is not what was written."""
        again = f"run `gnomon lab data {self.name} --again`."
        try:
            content = (self.folder / file).read_bytes()
        except OSError as error:
            raise GnomonError(
                f"{file} of the data set {self.name!r} cannot be read ({error.strerror}); {again}"
            ) from None
        if hashlib.sha256(content).hexdigest() != self.files.get(file):
            raise GnomonError(f"{file} of the data set {self.name!r} is not as it was when it was fetched; {again}")
        return content

    def lines(self, file: str) -> list[str]:
        """The lines of a text file."""
        return self.read(file).decode().splitlines()


def load(name: str) -> Stored:
    """A data set by name; raises GnomonError that says how to fetch it when it is not here."""
    from gnomon.lab.data.dataset import registry

    registry.get(name)
    found = find(name)
    if found is None:
        raise GnomonError(f"The data set {name!r} is not on this machine; run `gnomon lab data {name}` first.")
    return found


def find(name: str) -> Stored | None:
    """A data set by name, None when it is not here."""
    folder = cache_root() / "data" / name
    try:
        told = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError):
        told = {}
    if not isinstance(told, dict) or told.get("format") != FORMAT:
        raise GnomonError(
            f"The manifest of the data set {name!r} is broken or of another version of gnomon; "
            f"run `gnomon lab data {name} --again`."
        )
    return Stored(name, folder, told["files"], tuple(told["origins"]), told["licence"], told["fetched"])


def keep(stored: Stored, contents: Mapping[str, bytes]) -> None:
    """Write the files, each whole, and the manifest last: until it is there, there is no data set."""
    told: dict[str, Any] = {
        "format": FORMAT,
        "name": stored.name,
        "origins": list(stored.origins),
        "licence": stored.licence,
        "fetched": stored.fetched,
        "files": dict(stored.files),
    }
    try:
        stored.folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise GnomonError(f"Cannot make the folder {stored.folder}: {error.strerror}; set GNOMON_CACHE.") from error
    for file, content in contents.items():
        write_whole(stored.folder / file, content)
    write_whole(stored.folder / MANIFEST, json.dumps(told, indent=1, ensure_ascii=False).encode())
