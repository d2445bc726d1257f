"""What appears whole or not at all: files and folders, and what a failure leaves, which is nothing."""

import errno
import os
from pathlib import Path

import pytest

from gnomon.adapters.checkpoints.whole import whole
from gnomon.errors import GnomonError


def test_a_file_has_its_name_only_once_it_is_complete(tmp_path: Path) -> None:
    with whole(tmp_path / "out") as beside:
        beside.write_bytes(b"all of it")
        assert [path.name.startswith(".out.") for path in tmp_path.iterdir()] == [True]
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("out", b"all of it")]


def test_a_folder_is_on_the_disk_with_all_in_it_before_it_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synchronised = []

    def note(handle: int) -> None:
        synchronised.append(os.readlink(f"/proc/self/fd/{handle}"))
        assert not (tmp_path / "out").exists()

    monkeypatch.setattr(os, "fsync", note)
    with whole(tmp_path / "out") as beside:
        (beside / "inner").mkdir(parents=True)
        (beside / "inner" / "file").write_bytes(b"x")
    assert sorted(Path(path).name for path in synchronised) == sorted(("file", "inner", beside.name))
    assert (tmp_path / "out" / "inner" / "file").read_bytes() == b"x"


@pytest.mark.parametrize("folder", [False, True])
@pytest.mark.parametrize("error", [ZeroDivisionError(), KeyboardInterrupt(), OSError(errno.ENOSPC, "full")])
def test_a_failure_leaves_nothing(tmp_path: Path, folder: bool, error: BaseException) -> None:
    def make() -> None:
        with whole(tmp_path / "out") as beside:
            if folder:
                beside.mkdir()
            (beside / "part" if folder else beside).write_bytes(b"half")
            raise error

    expected = GnomonError if isinstance(error, OSError) else type(error)
    with pytest.raises(expected) as caught:
        make()
    assert list(tmp_path.iterdir()) == []
    if expected is GnomonError:
        assert str(caught.value) == f"Cannot write {tmp_path / 'out'}: full. Choose another place."


def test_the_longest_name_that_a_folder_takes_is_written(tmp_path: Path) -> None:
    longest = tmp_path / ("ü" * 127)  # 254 bytes
    with whole(longest) as outer, whole(outer) as inner:
        inner.write_bytes(b"x")
    assert longest.read_bytes() == b"x"
    too_long = tmp_path / ("x" * 256)
    with pytest.raises(GnomonError, match="File name too long"), whole(too_long) as beside:
        beside.write_bytes(b"x")
    assert list(tmp_path.iterdir()) == [longest]
