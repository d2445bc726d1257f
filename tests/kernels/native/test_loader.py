"""The loader of the compiled rotation: it is there where it can be, and says why where it is not."""

import importlib
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from gnomon.errors import GnomonError
from gnomon.kernels import native
from tests.helpers.native_rotation import level, levels, needs_kernel

PRINTS = """
from gnomon.errors import GnomonError
from gnomon.kernels import native
print(native.AVAILABLE, native.reason())
try:
    native.rotate((), None, None, None, False, 1.0, 1)
except GnomonError as error:
    print(error)
"""


def can_compile() -> bool:
    has_headers = Path(sysconfig.get_paths()["include"], "Python.h").exists()
    return has_headers and any(shutil.which(name) for name in ("c++", "g++", "clang++"))


@pytest.mark.skipif(not can_compile(), reason="there is no C++ compiler, or no Python.h, on this machine")
@pytest.mark.skipif(os.environ.get("GNOMON_NATIVE") == "0", reason="GNOMON_NATIVE=0 asks for none")
def test_where_a_compiler_is_the_installation_has_the_compiled_rotation() -> None:
    assert native.AVAILABLE, f"install gnomon again (make setup): {native.reason()}"


@needs_kernel
def test_the_reason_names_the_instruction_set_and_the_threads() -> None:
    best, threads = native.reason().split(", ")
    assert best == levels()[0]
    assert best in ("avx512", "avx2", "portable")
    assert threads in ("OpenMP", "one thread")


@needs_kernel
def test_the_plainest_instruction_set_is_on_every_machine() -> None:
    assert levels()[-1] == "portable"
    with pytest.raises(GnomonError, match="no such level"), level("of another processor"):
        pass


@needs_kernel
def test_one_openmp_runtime_serves_torch_and_the_kernel() -> None:
    maps = Path("/proc/self/maps")
    if not maps.exists():
        pytest.skip("the system does not list what a process has loaded")
    loaded = {line.split()[-1] for line in maps.read_text().splitlines() if "libgomp" in line}
    assert len(loaded) <= 1


def copy_of_the_package(folder: Path) -> Path:
    """The loader and what it imports, without a library."""
    package = folder / "gnomon"
    for name in ("__init__.py", "errors.py", "kernels/__init__.py", "kernels/native/__init__.py"):
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(Path(native.__file__).parents[2] / name, package / name)
    return package / "kernels" / "native"


def printed(folder: Path) -> str:
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    return subprocess.run(
        [sys.executable, "-c", PRINTS], env=environment, cwd=folder, check=True, capture_output=True, text=True
    ).stdout


@pytest.mark.parametrize(("content", "said"), [(None, "it was not built"), (b"no library", "it cannot be loaded")])
def test_without_a_usable_library_importing_works_and_says_why(
    tmp_path: Path, content: bytes | None, said: str
) -> None:
    folder = copy_of_the_package(tmp_path)
    if content is not None:
        (folder / f"_rotary{importlib.machinery.EXTENSION_SUFFIXES[0]}").write_bytes(content)
    available, refusal = printed(tmp_path).splitlines()
    assert available.startswith(f"False {said}")
    assert refusal.startswith(f"The compiled rotation is not available: {said}")
