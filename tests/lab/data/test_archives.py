import io
import zipfile
from pathlib import Path

import pytest

from gnomon.errors import GnomonError
from gnomon.lab.data.archives import read_tar, read_zip
from tests.helpers.archives import tar


def wanted(file: str) -> bool:
    return file.endswith(".txt")


@pytest.mark.parametrize("mode", ["w:", "w:gz", "w:xz", "w:bz2"])
def test_a_tar_gives_the_wanted_files_alone(mode: str) -> None:
    archive = tar({"./a/b.txt": b"one", "a/c.txt": b"", "a/d.py": b"code"}, mode=mode)
    assert read_tar(io.BytesIO(archive), wanted, name="x") == {"a/b.txt": b"one", "a/c.txt": b""}


def test_links_are_not_followed_and_folders_are_not_read() -> None:
    archive = tar({"real.txt": b"one"}, links={"link.txt": "real.txt", "out.txt": "/etc/hostname"})
    assert read_tar(io.BytesIO(archive), wanted, name="x") == {"real.txt": b"one"}


def test_a_name_that_leads_outside_writes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    monkeypatch.chdir(inside)
    read_tar(io.BytesIO(tar({"../out.txt": b"one"})), wanted, name="x")
    assert list(tmp_path.rglob("*")) == [inside]


def test_a_zip_gives_the_wanted_files_alone(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.whl", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a/b.txt", b"one")
        archive.writestr("a/c.py", b"code")
        archive.writestr("folder.txt/", b"")
    assert read_zip(tmp_path / "x.whl", wanted) == {"a/b.txt": b"one"}


def test_more_than_the_limit_is_refused(tmp_path: Path) -> None:
    files = {"a.txt": bytes(60), "b.txt": bytes(60), "c.py": bytes(500)}
    assert len(read_tar(io.BytesIO(tar(files)), wanted, name="x", most=120)) == 2
    with pytest.raises(GnomonError, match="x holds more than 119 bytes"):
        read_tar(io.BytesIO(tar(files)), wanted, name="x", most=119)
    with zipfile.ZipFile(tmp_path / "x.whl", "w") as archive:
        archive.writestr("a.txt", bytes(120))
    with pytest.raises(GnomonError, match=r"x.whl holds more than 119 bytes"):
        read_zip(tmp_path / "x.whl", wanted, most=119)


@pytest.mark.parametrize("keep", [0, 40, 100])
def test_an_archive_that_is_cut_off_or_no_archive_is_an_error(keep: int, tmp_path: Path) -> None:
    whole = tar({"a.txt": bytes(range(256)) * 40})
    with pytest.raises(GnomonError, match="x cannot be read as an archive"):
        read_tar(io.BytesIO(whole[:keep]), wanted, name="x")
    (tmp_path / "x.whl").write_bytes(whole[:keep])
    with pytest.raises(GnomonError, match="cannot be read as an archive"):
        read_zip(tmp_path / "x.whl", wanted)
