import hashlib
import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, final

import pytest

from gnomon.errors import GnomonError
from gnomon.lab.data import dataset, fetch, load
from gnomon.lab.data.archives import Wanted
from gnomon.lab.data.dataset import DataSet
from gnomon.lab.data.packages import Package
from gnomon.lab.data.packages.base import Origin
from gnomon.registry import Registry

DOWNLOADED: list[str] = []


@final
@dataclass(frozen=True)
class Parcel(Package):
    """A package without a registry: one line of text in its archive."""

    text: str
    manager = "post"

    @property
    def label(self) -> str:
        return f"parcel {self.text}"

    def download(self, folder: Path) -> Path:
        DOWNLOADED.append(self.text)
        (folder / "x.tgz").write_text(self.text)
        return folder / "x.tgz"

    def read(self, archive: Path, wanted: Wanted) -> dict[str, bytes]:
        return {f"{self.text}.in": archive.read_bytes()} if wanted(f"{self.text}.in") else {}

    def origin(self, archive: Path) -> Origin:
        return Origin("post", self.text, "1", "0" * 64)


class Upper(DataSet):
    title, licence, megabytes = "capitals", "none", 0.1
    packages: ClassVar[tuple[Package, ...]] = (Parcel("a"), Parcel("b"))

    def wanted(self, file: str) -> bool:
        return file.endswith(".in")

    def convert(self, files: Mapping[str, bytes]) -> dict[str, bytes]:
        return {"all.txt": b"\n".join(files[name].upper() for name in sorted(files))}


class First(Upper):
    packages = (Parcel("a"),)


class Broken(Upper):
    def convert(self, files: Mapping[str, bytes]) -> dict[str, bytes]:
        return {"all.txt": files["c.in"]}


class Unlike(Upper):
    expected: ClassVar[Mapping[str, str]] = {"all.txt": "0" * 64}


class Needy(Upper):
    needs = ("a_module_that_is_not_there",)


@pytest.fixture(autouse=True)
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Data sets of this file alone, and an empty cache."""
    registry: Registry[type[DataSet]] = Registry("data set", package=None)
    for cls in (Upper, First, Broken, Unlike, Needy):
        registry.register(cls.__name__.lower())(cls)
    monkeypatch.setattr(dataset, "registry", registry)
    monkeypatch.setattr(f"{fetch.__module__}.registry", registry)
    monkeypatch.setenv("GNOMON_CACHE", str(tmp_path / "cache"))
    DOWNLOADED.clear()
    return tmp_path / "cache" / "data"


def fetched(*names: str, again: bool = False) -> list[str]:
    """The lines of progress."""
    lines: list[str] = []
    fetch(names, again=again, tell=lines.append)
    return lines


def test_what_is_fetched_is_kept_with_where_it_is_from(places: Path) -> None:
    assert fetched("upper") == [
        "Downloading parcel a with post",
        "Downloading parcel b with post",
        "Converting 2 files of upper",
        f"upper is in {places / 'upper'}: 1 files, 0.0 MB",
    ]
    assert load("upper").read("all.txt") == b"A\nB"
    told = json.loads((places / "upper" / "manifest.json").read_text())
    assert told["files"] == {"all.txt": hashlib.sha256(b"A\nB").hexdigest()}
    assert [one["package"] for one in told["origins"]] == ["a", "b"]
    assert load("upper").checksum == hashlib.sha256(f"all.txt {told['files']['all.txt']}\n".encode()).hexdigest()


def test_the_second_time_nothing_is_downloaded(places: Path) -> None:
    fetched("upper")
    DOWNLOADED.clear()
    assert fetched("upper") == [f"upper is here already, in {places / 'upper'}"]
    assert DOWNLOADED == []
    fetched("upper", again=True)
    assert DOWNLOADED == ["a", "b"]


def test_a_package_of_two_data_sets_is_downloaded_once() -> None:
    fetched("first", "upper", "first")
    assert DOWNLOADED == ["a", "b"]


def test_a_data_set_that_is_not_here_is_told_how_to_get() -> None:
    with pytest.raises(GnomonError, match=r"'upper' is not on this machine; run `gnomon lab data upper` first"):
        load("upper")
    with pytest.raises(GnomonError, match=r"No data set is called 'uper'. Did you mean 'upper'\?"):
        load("uper")


def test_a_changed_file_is_noticed(places: Path) -> None:
    fetched("upper")
    (places / "upper" / "all.txt").write_bytes(b"A\nC")
    with pytest.raises(GnomonError, match=r"all.txt of .* is not as it was .* run `gnomon lab data upper --again`"):
        load("upper").read("all.txt")
    with pytest.raises(GnomonError, match="--again"):
        fetched("upper")
    fetched("upper", again=True)
    assert load("upper").read("all.txt") == b"A\nB"
    (places / "upper" / "all.txt").unlink()
    with pytest.raises(GnomonError, match=r"cannot be read .*--again"):
        load("upper").read("all.txt")


@pytest.mark.parametrize("manifest", ["", "{", "[]", '{"format": 0}'])
def test_a_broken_manifest_is_noticed(manifest: str, places: Path) -> None:
    fetched("upper")
    (places / "upper" / "manifest.json").write_text(manifest)
    with pytest.raises(GnomonError, match=r"The manifest of the data set 'upper' is broken .*--again"):
        load("upper")


def test_what_cannot_be_converted_or_is_not_as_expected_leaves_nothing(places: Path) -> None:
    with pytest.raises(GnomonError, match=r"The packages of 'broken' hold something else than expected \(KeyError"):
        fetched("broken")
    with pytest.raises(GnomonError, match=r"all.txt made from the packages of 'unlike' is not what"):
        fetched("unlike")
    assert not places.exists()


def test_a_fetch_that_is_killed_before_the_manifest_leaves_no_data_set(
    places: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(path: Path, content: bytes) -> None:
        if path.name == "manifest.json":
            raise KeyboardInterrupt
        path.write_bytes(content)

    with monkeypatch.context() as patch:
        patch.setattr("gnomon.lab.data.cache.write_whole", killed)
        with pytest.raises(KeyboardInterrupt):
            fetched("upper")
    assert (places / "upper" / "all.txt").exists()
    with pytest.raises(GnomonError, match="is not on this machine"):
        load("upper")
    fetched("upper")
    assert load("upper").read("all.txt") == b"A\nB"


def test_several_that_fetch_at_a_time_leave_one_whole_data_set() -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: fetched("upper", again=True), range(24)))
    assert load("upper").read("all.txt") == b"A\nB"
    assert sorted(path.name for path in load("upper").folder.iterdir()) == ["all.txt", "manifest.json"]


def test_a_missing_library_is_told_before_anything_is_downloaded() -> None:
    with pytest.raises(GnomonError, match=r"'needy' is read with a_module_that_is_not_there; `pip install"):
        fetched("upper", "needy")
    assert DOWNLOADED == []


def test_a_cache_that_cannot_be_made_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("GNOMON_CACHE", str(tmp_path / "file"))
    with pytest.raises(GnomonError, match=r"Cannot make the folder .* set GNOMON_CACHE"):
        fetched("upper")
