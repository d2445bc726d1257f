"""Nothing in the repository depends on the machine it was written on, and what it installs is pinned."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SKIPPED = {".git", ".venv", "__pycache__", "reports", "build", "dist", ".mypy_cache", ".ruff_cache", ".hypothesis"}

# In pieces, so that this file does not match itself.
FOLDERS = "|".join(["work", "root", "tmp", "opt", "mnt", "Users"])
HOSTS = "|".join(["pypi" + r"\.org", "python" + "hosted", "npm" + "js", "deb" + r"\.debian", "conda" + r"\.anaconda"])
MACHINE_PATH = re.compile(rf"(?<![\w.\-*}})])/(?:{FOLDERS})/")
REGISTRY_HOST = re.compile(HOSTS)


def texts() -> Iterator[tuple[str, str]]:
    for path in sorted(ROOT.rglob("*")):
        inside = path.relative_to(ROOT)
        if path.is_file() and not SKIPPED & set(inside.parts) and path.suffix not in (".png", ".svg", ".pyc"):
            yield inside.as_posix(), path.read_text(encoding="utf-8", errors="replace")


def matches(pattern: re.Pattern[str]) -> list[str]:
    return [f"{name}: {match.group()}" for name, text in texts() for match in pattern.finditer(text)]


def test_no_file_names_a_path_of_one_machine() -> None:
    assert matches(MACHINE_PATH) == []


def test_no_file_names_the_host_of_a_registry() -> None:
    assert matches(REGISTRY_HOST) == []


@pytest.mark.parametrize("folder", ["work", "root", "tmp"])
def test_a_machine_path_would_be_caught(folder: str) -> None:
    assert MACHINE_PATH.search(f'open("/{folder}/me/model.safetensors")')
    assert not MACHINE_PATH.search(f"from src/{folder}/x import y")


def test_everything_that_set_up_installs_is_pinned() -> None:
    pins = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pinned = dict(line.split("==") for line in pins if line and not line.startswith("#"))
    assert pinned["torch"] == "2.13.0"
    assert all(re.fullmatch(r"[\w.]+", version) for version in pinned.values())  # no build of one machine, as in +cpu
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [
        *project["dependencies"],
        *(word for extra in project["optional-dependencies"].values() for word in extra),
    ]
    names = {_normal(re.split(r"[<>=!~\[ ;]", word)[0]) for word in wanted} - {"gnomon"}
    assert names - {_normal(name) for name in pinned} == set()


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
