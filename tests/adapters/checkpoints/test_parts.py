"""Parts of files: all their bytes, in order, or one sentence."""

from pathlib import Path

import pytest

from gnomon.adapters.checkpoints import parts
from gnomon.errors import UnsupportedTargetError


@pytest.mark.parametrize(("begin", "size"), [(0, 11), (2, 7), (4, 0), (11, 0), (3, 1)])
def test_a_part_is_the_same_at_once_and_in_chunks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, begin: int, size: int
) -> None:
    monkeypatch.setattr(parts, "CHUNK", 3)
    (tmp_path / "file").write_bytes(b"abcdefghijk")
    with (tmp_path / "file").open("rb") as file:
        expected = b"abcdefghijk"[begin : begin + size]
        assert parts.read_part(file, begin, size) == expected
        pieces = list(parts.chunks(file, begin, size))
    assert b"".join(pieces) == expected
    assert all(len(piece) <= 3 for piece in pieces)


def test_a_file_that_ends_before_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"abc")
    with (tmp_path / "file").open("rb") as file:
        with pytest.raises(UnsupportedTargetError, match="file became shorter while it was read"):
            parts.read_part(file, 1, 3)
        with pytest.raises(UnsupportedTargetError, match="file became shorter while it was read"):
            list(parts.chunks(file, 1, 3))
