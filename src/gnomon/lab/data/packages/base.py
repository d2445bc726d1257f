"""A package at one version, and what is read out of its archive. No code of a package is ever run."""

import hashlib
import os
import shutil
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import final

from gnomon.errors import GnomonError
from gnomon.lab.data.archives import Wanted

PROBLEM = ("npm error", "npm err", "error", "e:")  #: how the managers begin the line that says what went wrong
CODE_LINES = ("code ", "errno ", "syscall ")  #: of npm, before the line that says it


@final
@dataclass(frozen=True)
class Origin:
    """What was fetched: for the manifest."""

    manager: str
    package: str
    version: str
    sha256: str  #: of the archive


class Package(ABC):
    """Frozen dataclasses over plain values; equal ones are downloaded once."""

    manager: str

    @property
    @abstractmethod
    def label(self) -> str:
        """The name, the version where it is fixed, and who brings it."""

    @abstractmethod
    def download(self, folder: Path) -> Path:
        """The archive in `folder`, its checksum compared with the one that is written here; raises GnomonError."""

    @abstractmethod
    def read(self, archive: Path, wanted: Wanted) -> dict[str, bytes]:
        """The content of the wanted files, by their names in the archive."""

    @abstractmethod
    def origin(self, archive: Path) -> Origin:
        """What was downloaded."""


def program(name: str, label: str, hint: str) -> str:
    """Where a package manager is; raises GnomonError, which ends with `hint`, on a machine without it."""
    found = shutil.which(name)
    if found is None:
        raise GnomonError(f"{name} is needed for {label}, and it is not on this machine; {hint}.")
    return found


def run(command: Sequence[str], folder: Path, *, name: str, environment: Mapping[str, str] | None = None) -> bytes:
    """Run the package manager called `name` in `folder` and return what it printed.

    Raises GnomonError with the line in which the manager says why it failed.
    """
    found = subprocess.run(
        list(command),
        cwd=folder,
        env={**os.environ, **(environment or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    if found.returncode:
        reason = problem(found.stderr.decode(errors="replace"))
        raise GnomonError(f"{name} failed: {reason} See to the network or to the settings of {name}, and try again.")
    return found.stdout


def problem(printed: str) -> str:
    """The line of a manager's messages that says what went wrong, as a sentence.

    >>> problem("W: no user _apt\\nE: Unable to locate package x\\n")
    'Unable to locate package x.'
    """
    lines = [line.strip() for line in printed.splitlines() if line.strip()]
    told = [_after(line) for line in lines if line.lower().startswith(PROBLEM)]
    told = [line for line in told if line and not line.startswith(CODE_LINES)] or lines[-1:] or ["it did not say why"]
    return told[0][:200].rstrip(".") + "."


def _after(line: str) -> str:
    start = next(word for word in PROBLEM if line.lower().startswith(word))
    return line[len(start) :].lstrip(":! ")


def checked(archive: Path, expected: str, algorithm: str = "sha256") -> Path:
    """The archive, if its checksum is the expected one; raises GnomonError, and the archive is not read."""
    with archive.open("rb") as file:
        found = hashlib.file_digest(file, algorithm).hexdigest()
    if found != expected:
        raise GnomonError(
            f"{archive.name} has the {algorithm} {found[:16]}..., expected {expected[:16]}...; it is not the archive "
            f"that gnomon was made with, so it is not read."
        )
    return archive


def only_file(folder: Path, pattern: str, label: str) -> Path:
    """The one file that a manager left."""
    found = sorted(folder.glob(pattern))
    if len(found) != 1:
        raise GnomonError(f"{label} was asked for one archive, and {len(found)} are there; try once more.")
    return found[0]


def sha256(archive: Path) -> str:
    with archive.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
