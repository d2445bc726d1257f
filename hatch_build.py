"""Builds the optional compiled rotation into wheels and editable installs; without a compiler the build goes on.

The module uses CPython's stable interface, so that one wheel serves every Python from 3.11 on. setuptools, which knows
the compilers of the platforms, does the compiling.
"""

import os
import shutil
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any, final

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from setuptools import Distribution, Extension
from setuptools.command.build_ext import build_ext

PACKAGE = "gnomon/kernels/native"
MODULE = "_rotary"
#: By the kind of compiler. One rounding for each product and sum on every machine; no debug information and none of
#: the folders of the machine that builds.
FLAGS = {
    "unix": ["-std=c++17", "-O3", "-g0", "-w", "-fvisibility=hidden", "-ffp-contract=off"],
    "msvc": ["/std:c++17", "/O2", "/fp:precise"],
}
OPENMP = {"unix": "-fopenmp", "msvc": "/openmp"}


@final
class CompiledRotation(BuildHookInterface[Any]):
    """Puts the library into the wheel, or beside the sources in an editable install."""

    PLUGIN_NAME = "custom"
    _scratch: Path | None = None

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, unless the environment has GNOMON_NATIVE=0; called before the files are collected."""
        source = Path(self.root) / "src" / PACKAGE
        self._scratch = Path(tempfile.mkdtemp())
        library = None if os.environ.get("GNOMON_NATIVE") == "0" else compiled(source, self._scratch)
        if version == "editable":
            replace(source, library)
        elif library is not None:
            platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
            build_data["tag"] = f"cp311-abi3-{platform}"
            build_data["pure_python"] = False
            build_data["force_include"][str(library)] = f"{PACKAGE}/{library.name}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what was compiled; called when the wheel is whole."""
        if self._scratch is not None:
            shutil.rmtree(self._scratch)


def replace(folder: Path, library: Path | None) -> None:
    """Take the old library out of the folder and put the new one in, whole: programs that have it open keep the old."""
    new = None
    if library is not None:
        new = folder / library.name
        unfinished = shutil.copy(library, folder / f"{library.name}.new")
        Path(unfinished).replace(new)
    for old in folder.glob(f"{MODULE}.*"):
        if old.suffix in (".so", ".pyd") and old != new:
            old.unlink()


def compiled(source: Path, scratch: Path) -> Path | None:
    """The library, with OpenMP where that works; None where nothing works, and stderr says why in a line."""
    problem = ""
    for openmp in (True, False):
        try:
            return build(source, scratch, openmp=openmp)
        except Exception as error:  # noqa: BLE001  whatever a compiler does, gnomon installs without this part
            problem = " ".join(str(error).split())
    print(f"gnomon: going on without the compiled rotation, an optional part: {problem}", file=sys.stderr)  # noqa: T201
    return None


def build(source: Path, scratch: Path, *, openmp: bool) -> Path:
    """Compile and link all C++ files of the folder. Raises whatever setuptools raises."""
    extension = Extension(
        MODULE,
        sorted(str(file) for file in source.glob("*.cpp")),
        language="c++",
        define_macros=[("Py_LIMITED_API", "0x030B0000")],
        py_limited_api=True,
    )
    command = _Build(Distribution({"name": "gnomon", "ext_modules": [extension]}))
    command.openmp = openmp
    command.build_lib, command.build_temp = str(scratch / "library"), str(scratch / "objects")
    command.force = True
    command.ensure_finalized()
    command.run()
    [library] = command.get_outputs()
    return Path(library)


@final
class _Build(build_ext):
    """build_ext with the flags of the compiler at hand."""

    openmp = False

    def build_extensions(self) -> None:
        kind = self.compiler.compiler_type if self.compiler.compiler_type in FLAGS else "unix"
        threads = [OPENMP[kind]] if self.openmp else []
        for extension in self.extensions:
            extension.extra_compile_args = [*FLAGS[kind], *threads]
            extension.extra_link_args = threads if kind == "unix" else []
        for linker in ("linker_so", "linker_so_cxx"):  # Python's own may name the folder that it was installed to
            words = getattr(self.compiler, linker, None)
            if words:
                setattr(self.compiler, linker, [word for word in words if not word.startswith(("-Wl,-rpath", "-L"))])
        super().build_extensions()
