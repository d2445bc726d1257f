"""The wheel that users install holds what the source tree holds."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    [built] = folder.glob("gnomon-*.whl")
    return zipfile.ZipFile(built)


def test_the_wheel_holds_every_file_of_the_package(wheel: zipfile.ZipFile) -> None:
    source = ROOT / "src"
    files = (path for path in (source / "gnomon").rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    expected = {path.relative_to(source).as_posix() for path in files}
    assert expected - set(wheel.namelist()) == set()
    assert "gnomon/py.typed" in expected
    assert any(name.endswith(".css") for name in expected)  # the page of the HTML report is data, not Python
    assert any(name.endswith(".js") for name in expected)


def test_the_wheel_carries_licence_and_command(wheel: zipfile.ZipFile) -> None:
    metadata = {name.split("/", 1)[1]: wheel.read(name).decode() for name in wheel.namelist() if ".dist-info/" in name}
    assert "License-Expression: Apache-2.0" in metadata["METADATA"]
    assert "Apache License" in metadata["licenses/LICENSE"]
    assert "gnomon = gnomon.cli:main" in metadata["entry_points.txt"]


def test_the_wheel_holds_nothing_else(wheel: zipfile.ZipFile) -> None:
    assert {name.split("/")[0].split("-")[0] for name in wheel.namelist()} == {"gnomon"}
