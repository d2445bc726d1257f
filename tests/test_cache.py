"""Where the cache is."""

from pathlib import Path

import pytest

from gnomon.cache import cache_root


def test_the_cache_is_where_the_user_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.setenv("GNOMON_CACHE", "~/mine")
    assert cache_root() == tmp_path / "home" / "mine"
    monkeypatch.delenv("GNOMON_CACHE")
    assert cache_root() == tmp_path / "xdg" / "gnomon"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_root() == tmp_path / "home" / ".cache" / "gnomon"


@pytest.mark.parametrize(
    ("platform", "inside"), [("darwin", "Library/Caches/gnomon"), ("win32", "AppData/Local/gnomon")]
)
def test_other_platforms_have_their_own_place(
    platform: str, inside: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.platform", platform)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("GNOMON_CACHE", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    assert cache_root() == tmp_path / inside
