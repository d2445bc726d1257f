"""Packages as the registries serve them, made by hand, and package managers that bring them from a folder."""

import io
import os
import stat
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

SETUP = "import pathlib\npathlib.Path({mark!r}).write_text('run')\nraise SystemExit('set-up was run')\n"


def tar(files: Mapping[str, bytes], *, links: Mapping[str, str] | None = None, mode: str = "w:gz") -> bytes:
    """A tar archive; `links` are symbolic ones, by name."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as archive:  # type: ignore[call-overload]
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
        for name, target in (links or {}).items():
            member = tarfile.TarInfo(name)
            member.type, member.linkname = tarfile.SYMTYPE, target
            archive.addfile(member)
    return buffer.getvalue()


def wheel(folder: Path, name: str, version: str, files: Mapping[str, bytes]) -> Path:
    path = folder / f"{name}-{version}-py3-none-any.whl"
    info = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        for inside, content in files.items():
            archive.writestr(inside, content)
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    return path


def source_archive(folder: Path, name: str, version: str, files: Mapping[str, bytes], *, mark: Path) -> Path:
    """An sdist whose setup.py writes `mark` when it is run."""
    root = f"{name}-{version}"
    told = f"Metadata-Version: 1.1\nName: {name}\nVersion: {version}\n".encode()
    setup = SETUP.format(mark=str(mark)).encode()
    path = folder / f"{root}.tar.gz"
    inside = {f"{root}/{file}": content for file, content in files.items()}
    path.write_bytes(tar({f"{root}/PKG-INFO": told, f"{root}/setup.py": setup, **inside}))
    return path


def deb(path: Path, package: str, version: str, data: bytes) -> Path:
    """A Debian package: an ar archive of a version, a tar of control files, and a tar of files."""
    control = f"Package: {package}\nVersion: {version}\nArchitecture: all\nMaintainer: x <x@example.org>\n"
    control += "Description: a package made by a test\n"
    members = {
        "debian-binary": b"2.0\n",
        "control.tar.gz": tar({"./control": control.encode()}),
        "data.tar.gz": data,
    }
    content = b"!<arch>\n"
    for name, part in members.items():
        content += f"{name:<16}{0:<12}{0:<6}{0:<6}{'100644':<8}{len(part):<10}`\n".encode()
        content += part + b"\n" * (len(part) % 2)
    path.write_bytes(content)
    return path


def manager(folder: Path, name: str, script: str) -> None:
    """A program `name` in `folder`, a shell script."""
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def first_on_path(folder: Path) -> str:
    """$PATH with `folder` before the rest."""
    return f"{folder}{os.pathsep}{os.environ['PATH']}"
