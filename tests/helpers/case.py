"""One encoding with its options and the scalar formula that it must equal."""

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType

from gnomon.encodings import PositionEncoding
from gnomon.testing import Reference

FOLDER = Path(__file__).parents[1] / "encodings"


@dataclass(frozen=True)
class Case:
    """One encoding and its formula. `name` starts with the registered name."""

    name: str
    encoding: PositionEncoding
    reference: Reference


def case_modules(name: str) -> Iterator[ModuleType]:
    """The test files of encodings that define `name`: `cases()` or `mutations()`, which the contract suites run."""
    for path in sorted(FOLDER.glob("test_*.py")):
        module = import_module(f"tests.encodings.{path.stem}")
        if hasattr(module, name):
            yield module
