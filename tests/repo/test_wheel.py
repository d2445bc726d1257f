"""The wheel that users install holds what the source tree holds, and the compiled kernel where a compiler works."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from gnomon.kernels import native

ROOT = Path(__file__).parents[2]
LIBRARY = "gnomon/kernels/native/_rotary."


def built(folder: Path, **environment: str) -> tuple[zipfile.ZipFile, str]:
    """The wheel, and what the build said on stderr."""
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    done = subprocess.run(
        command, cwd=ROOT, check=True, capture_output=True, text=True, env={**os.environ, **environment}
    )
    [wheel] = folder.glob("gnomon-*.whl")
    return zipfile.ZipFile(wheel), done.stderr


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    return built(tmp_path_factory.mktemp("plain"), GNOMON_NATIVE="0")[0]


def libraries(wheel: zipfile.ZipFile) -> list[str]:
    return [name for name in wheel.namelist() if name.startswith(LIBRARY)]


def tag(wheel: zipfile.ZipFile) -> str:
    return Path(str(wheel.filename)).stem.split("-", 2)[2]


def test_the_wheel_holds_every_file_of_the_package(plain: zipfile.ZipFile) -> None:
    source = ROOT / "src"
    files = (path for path in (source / "gnomon").rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    expected = {path.relative_to(source).as_posix() for path in files}
    expected = {name for name in expected if not name.startswith(LIBRARY)}
    assert expected - set(plain.namelist()) == set()
    assert "gnomon/py.typed" in expected
    assert any(name.endswith(".css") for name in expected)  # the page of the HTML report is data, not Python
    assert any(name.endswith(".js") for name in expected)


def test_the_wheel_carries_licence_and_command(plain: zipfile.ZipFile) -> None:
    metadata = {name.split("/", 1)[1]: plain.read(name).decode() for name in plain.namelist() if ".dist-info/" in name}
    assert "License-Expression: Apache-2.0" in metadata["METADATA"]
    assert "Apache License" in metadata["licenses/LICENSE"]
    assert "gnomon = gnomon.cli:main" in metadata["entry_points.txt"]


def test_the_wheel_holds_nothing_else(plain: zipfile.ZipFile) -> None:
    assert {name.split("/")[0].split("-")[0] for name in plain.namelist()} == {"gnomon"}


@pytest.mark.skipif(not native.AVAILABLE, reason=f"no compiled rotation: {native.reason()}")
def test_a_wheel_built_with_a_compiler_has_the_kernel_for_every_python(tmp_path: Path) -> None:
    wheel, _ = built(tmp_path)
    [library] = libraries(wheel)
    assert library.split(".", 1)[1] in ("abi3.so", "pyd")
    assert tag(wheel).startswith("cp311-abi3-")
    assert str(ROOT).encode() not in wheel.read(library)  # nothing of the machine that built it


def test_a_wheel_built_without_a_compiler_is_for_any_machine_and_the_build_says_so(tmp_path: Path) -> None:
    wheel, said = built(tmp_path, CXX="false", CC="false")
    assert libraries(wheel) == []
    assert tag(wheel) == "py3-none-any"
    [line] = [line for line in said.splitlines() if line.startswith("gnomon:")]
    assert "going on without the compiled rotation" in line


def test_a_wheel_without_the_kernel_imports_and_says_what_it_lacks(plain: zipfile.ZipFile, tmp_path: Path) -> None:
    assert libraries(plain) == []
    assert tag(plain) == "py3-none-any"
    plain.extractall(tmp_path)
    prints = "from gnomon.kernels import native; print(native.__file__, native.AVAILABLE, native.reason())"
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", prints], cwd=tmp_path, env=environment, check=True, capture_output=True, text=True
    )
    place, available, reason = done.stdout.split(" ", 2)
    assert Path(place).is_relative_to(tmp_path)
    assert available == "False"
    assert reason.startswith("it was not built")


def test_the_source_distribution_carries_what_the_kernel_is_built_from() -> None:
    from hatchling.builders.sdist import SdistBuilder

    files = {file.distribution_path for file in SdistBuilder(str(ROOT)).recurse_included_files()}
    sources = {path.relative_to(ROOT).as_posix() for path in (ROOT / "src/gnomon/kernels/native").glob("*.[ch]*")}
    assert {"hatch_build.py", "src/gnomon/kernels/native/kernel.h"} <= files
    assert sources - files == set()
    assert not [name for name in files if name.endswith((".so", ".pyd"))]
