"""Data of today, by the names that results give them."""

from pathlib import Path

import pytest

from gnomon.lab.checksums import checksum_today
from gnomon.lab.data.cache import Stored, keep
from gnomon.lab.data.stdlib import standard_library
from gnomon.lab.tasks import registry


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("GNOMON_CACHE", str(tmp_path))
    checksum_today.cache_clear()
    return tmp_path


def test_a_corpus_has_the_checksum_that_its_task_reports() -> None:
    [(name, checksum)] = registry.get("characters")("stdlib").data.items()  # type: ignore[call-arg]
    assert checksum_today(name) == checksum == standard_library().checksum


def test_a_data_set_has_that_of_its_files(cache: Path) -> None:
    stored = Stored(
        "austen", cache / "data" / "austen", {"train.txt": "12", "test.txt": "34"}, (), "none", "2026-01-01"
    )
    keep(stored, {})
    assert checksum_today("austen") == stored.checksum


@pytest.mark.parametrize("name", ["austen", "corpus austen", "corpus nothing", "nothing"])
def test_what_is_not_here_is_not_known(name: str) -> None:
    assert checksum_today(name) is None


def test_what_is_broken_is_not_known(cache: Path) -> None:
    (cache / "data" / "austen").mkdir(parents=True)
    (cache / "data" / "austen" / "manifest.json").write_text("{")
    assert checksum_today("austen") is None
