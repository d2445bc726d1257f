"""Where a file is written: whole beside the target, into a device or pipe as it is, and else a sentence."""

import os
import threading
from pathlib import Path

import pytest

from gnomon.errors import GnomonError
from gnomon.plots.files import check_writable, write_whole


def test_a_pipe_is_written_into_and_stays_a_pipe(tmp_path: Path) -> None:
    pipe, got = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
    reader.start()
    write_whole(pipe, b"report")
    reader.join(timeout=10)
    assert got == [b"report"]
    assert pipe.is_fifo()
    assert list(tmp_path.iterdir()) == [pipe]


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="this system has no full device")
def test_a_full_device_is_a_sentence_and_stays_a_device() -> None:
    with pytest.raises(GnomonError, match=r"^Cannot write /dev/full: No space left on device\."):
        write_whole("/dev/full", b"report")
    assert Path("/dev/full").is_char_device()


@pytest.mark.parametrize(("name", "reason"), [("a" * 300, "File name too long"), ("a\0b", "null byte")])
def test_a_name_that_no_file_can_have_is_a_short_sentence(tmp_path: Path, name: str, reason: str) -> None:
    for write in (check_writable, lambda path: write_whole(path, b"")):
        with pytest.raises(GnomonError, match=reason) as caught:
            write(tmp_path / name)
        assert len(str(caught.value)) < 250
    assert list(tmp_path.iterdir()) == []


def test_a_link_to_a_file_that_is_not_there_yet_is_followed(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write_whole(tmp_path / "link", b"report")
    assert (tmp_path / "real").read_bytes() == b"report"
    (tmp_path / "lost").symlink_to(tmp_path / "missing" / "real")
    with pytest.raises(GnomonError, match=r"The folder .*missing does not exist"):
        check_writable(tmp_path / "lost")
