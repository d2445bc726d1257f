"""Which other libraries there are, and their parts that need not be imported whole."""

import importlib.util
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from gnomon.errors import GnomonError

#: Names as users know them, and as they are imported.
PACKAGES: Final = {
    "transformers": "transformers",
    "torchtune": "torchtune",
    "rotary-embedding-torch": "rotary_embedding_torch",
    "x-transformers": "x_transformers",
}

UNIMPORTABLE = "cannot be imported"


def installed() -> tuple[str, ...]:
    """The peers that are installed, found without importing them."""
    return tuple(name for name, module in PACKAGES.items() if importlib.util.find_spec(module) is not None)


def require(module: str) -> Path:
    """The folder of an installed package; raises GnomonError "not installed" when there is none."""
    found = importlib.util.find_spec(module)
    if found is None or found.origin is None:
        raise GnomonError("not installed")
    return Path(found.origin).parent


@contextmanager
def as_reason(what: str) -> Iterator[None]:
    """Whatever goes wrong inside, where code of a peer runs, is a GnomonError: what it was, and the first line of it.

    >>> with as_reason("cannot be imported"):
    ...     import nowhere
    Traceback (most recent call last):
    gnomon.errors.GnomonError: cannot be imported: ModuleNotFoundError: No module named 'nowhere'
    """
    try:
        yield
    except GnomonError:
        raise
    except Exception as error:
        words = (str(error).splitlines() or ["no word"])[0]
        raise GnomonError(f"{what}: {type(error).__name__}: {words}") from error


def x_transformers() -> Any:
    """The module of x-transformers, which uses a deprecated part of torch while it is imported."""
    require("x_transformers")
    with as_reason(UNIMPORTABLE), warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        import x_transformers.x_transformers as module
    return module


def one_file(package: str, path: str) -> ModuleType:
    """One file of a package, without the package: torchtune imports others that may not be there."""
    file = require(package) / path
    if not file.exists():
        raise GnomonError(f"its version has no {path}")
    return _loaded(f"{package}_{file.stem}_alone", file)


@cache
def _loaded(name: str, file: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise GnomonError(f"{file.name} cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    with as_reason(UNIMPORTABLE):
        spec.loader.exec_module(module)
    return module
