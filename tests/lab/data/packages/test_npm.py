import base64
import hashlib
from pathlib import Path

import pytest

from gnomon.errors import GnomonError
from gnomon.lab.data.packages import Npm
from tests.helpers.archives import first_on_path, manager, tar


@pytest.fixture
def packed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> bytes:
    """What `npm pack somedata@1.2` brings."""
    content = tar({"package/dist/a.json": b"[]", "package/package.json": b"{}"})
    (tmp_path / "served").write_bytes(content)
    manager(tmp_path, "npm", f'[ "$1 $2" = "pack somedata@1.2" ] && cp {tmp_path}/served somedata-1.2.tgz')
    monkeypatch.setenv("PATH", first_on_path(tmp_path))
    return content


def integrity(content: bytes) -> str:
    return "sha512-" + base64.b64encode(hashlib.sha512(content).digest()).decode()


def test_an_archive_is_fetched_and_read(packed: bytes, tmp_path: Path) -> None:
    folder = tmp_path / "download"
    folder.mkdir()
    package = Npm("somedata", "1.2", integrity(packed))
    archive = package.download(folder)
    assert package.read(archive, lambda file: "/dist/" in file) == {"package/dist/a.json": b"[]"}
    assert package.origin(archive).sha256 == hashlib.sha256(packed).hexdigest()


def test_an_archive_with_another_checksum_is_not_read(packed: bytes, tmp_path: Path) -> None:
    with pytest.raises(GnomonError, match=r"somedata-1\.2\.tgz has the sha512 .*; it is not the archive"):
        Npm("somedata", "1.2", integrity(packed + b"x")).download(tmp_path)


def test_what_npm_says_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = "npm error code ENOTFOUND\\nnpm error errno ENOTFOUND\\nnpm error network request failed\\nnpm error x"
    manager(tmp_path, "npm", f"printf '{lines}' >&2; exit 1")
    monkeypatch.setenv("PATH", first_on_path(tmp_path))
    with pytest.raises(GnomonError, match=r"^npm failed: network request failed\. See to the network"):
        Npm("somedata", "1.2", integrity(b"")).download(tmp_path)


def test_a_machine_without_npm_is_told_where_it_comes_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(GnomonError, match=r"npm is needed for somedata 1\.2 \(npm\), .* install Node\.js"):
        Npm("somedata", "1.2", integrity(b"")).download(tmp_path)
