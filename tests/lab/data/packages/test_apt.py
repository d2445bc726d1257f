import shutil
from pathlib import Path

import pytest

from gnomon.errors import GnomonError
from gnomon.lab.data.packages import Debian
from tests.helpers.archives import deb, first_on_path, manager, tar

needs_dpkg = pytest.mark.skipif(shutil.which("dpkg-deb") is None, reason="dpkg-deb is not here")


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A release that has `newer-doc` and not `older-doc`; the folder to download to."""
    files = tar({"./usr/share/doc/a.rst.txt": b"one", "./usr/bin/a": b"code"}, links={"./usr/x.rst.txt": "a"})
    made = deb(tmp_path / "newer-doc_3.13.5-2_all.deb", "newer-doc", "3.13.5-2", files)
    script = f'case "$*" in *newer-doc) cp {made} . ;; *) echo "E: Unable to locate package $3" >&2; exit 100 ;; esac'
    manager(tmp_path, "apt-get", script)
    monkeypatch.setenv("PATH", first_on_path(tmp_path))
    folder = tmp_path / "download"
    folder.mkdir()
    return folder


@needs_dpkg
def test_the_first_package_that_the_release_has_is_read(served: Path) -> None:
    package = Debian(("older-doc", "newer-doc"))
    archive = package.download(served)
    assert package.read(archive, lambda file: file.endswith(".rst.txt")) == {"usr/share/doc/a.rst.txt": b"one"}
    origin = package.origin(archive)
    assert (origin.package, origin.version) == ("newer-doc", "3.13.5-2")


def test_a_release_that_has_none_is_one_line_of_apts(served: Path) -> None:
    with pytest.raises(GnomonError, match=r"apt-get failed: Unable to locate package older-doc\. .*apt-get update"):
        Debian(("oldest-doc", "older-doc")).download(served)


def test_another_system_is_told_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(GnomonError, match=r"apt-get is needed for older-doc \(Debian\), and it is not on this machine"):
        Debian(("older-doc",)).download(tmp_path)
