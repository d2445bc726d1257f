"""A package of Debian or of a system made from it, fetched by `apt-get download`, which installs nothing."""

import io
from dataclasses import dataclass
from pathlib import Path
from typing import final

from gnomon.errors import GnomonError
from gnomon.lab.data.archives import Wanted, read_tar
from gnomon.lab.data.packages.base import Origin, Package, only_file, program, run, sha256


@final
@dataclass(frozen=True)
class Debian(Package):
    """The first of `names` that this release has, at the version that it has; apt checks that it is signed.

    The archive differs by release, so no checksum of it can be written here: data sets compare what is made of it.
    """

    names: tuple[str, ...]
    manager = "apt-get"

    @property
    def label(self) -> str:
        return (
            f"{self.names[0]} (Debian)" if len(self.names) == 1 else f"{self.names[0]} or that of the release (Debian)"
        )

    def download(self, folder: Path) -> Path:
        apt = program("apt-get", self.label, "it is there on Debian and systems made from it")
        for name in self.names:
            try:
                run([apt, "download", "-q", name], folder, name="apt-get")
            except GnomonError as error:
                if name == self.names[-1]:
                    raise GnomonError(f"{error} `apt-get update` brings new lists of packages.") from error
            else:
                break
        return only_file(folder, "*.deb", "apt-get")

    def read(self, archive: Path, wanted: Wanted) -> dict[str, bytes]:
        return read_tar(io.BytesIO(_told("--fsys-tarfile", archive)), wanted, name=archive.name)

    def origin(self, archive: Path) -> Origin:
        name, version = (_told("--field", archive, field).decode().strip() for field in ("Package", "Version"))
        return Origin(self.manager, name, version, sha256(archive))


def _told(question: str, archive: Path, *words: str) -> bytes:
    """What dpkg-deb tells of an archive; it reads, and runs none of its scripts."""
    reader = program("dpkg-deb", archive.name, "it is there on Debian and systems made from it")
    return run([reader, question, str(archive), *words], archive.parent, name="dpkg-deb")
