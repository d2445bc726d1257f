"""A file under encodings/ that registers nothing, is not tested, or is hidden from type checkers, is a defect."""

import ast
import importlib
from pathlib import Path
from typing import Any

import pytest

import gnomon.encodings
import gnomon.encodings.frequencies
from gnomon.encodings import registry
from gnomon.encodings.frequencies import registry as frequency_registry
from gnomon.registry import Registry

SOURCE = Path(gnomon.encodings.__file__).parent
TESTS = Path(__file__).parents[1] / "encodings"
FOLDERS: dict[str, Registry[Any]] = {"": registry, "frequencies": frequency_registry}


def files() -> list[tuple[str, str]]:
    return [
        (folder, path.stem)
        for folder in FOLDERS
        for path in sorted((SOURCE / folder).glob("*.py"))
        if path.stem not in ("__init__", "base", "heads", "inner", "score_bias", "turning")
    ]


@pytest.mark.parametrize(("folder", "stem"), files())
def test_file_registers_something_under_its_own_name(folder: str, stem: str) -> None:
    module = ".".join(part for part in ("gnomon.encodings", folder, stem) if part)
    assert [name for name, cls in FOLDERS[folder] if cls.__module__ == module] == [stem]


@pytest.mark.parametrize(("folder", "stem"), files())
def test_file_has_a_test_file_and_a_reference(folder: str, stem: str) -> None:
    assert (TESTS / folder / f"test_{stem}.py").is_file()
    module = importlib.import_module(".".join(part for part in ("gnomon.encodings", folder, stem) if part))
    assert module.reference.__doc__


@pytest.mark.parametrize("folder", list(FOLDERS))
def test_type_checkers_see_every_registered_class(folder: str) -> None:
    tree = ast.parse((SOURCE / folder / "__init__.py").read_text())
    [block] = [node for node in tree.body if isinstance(node, ast.If)]
    imported = {alias.asname for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert imported == {cls.__name__ for _, cls in FOLDERS[folder]}


@pytest.mark.parametrize("folder", list(FOLDERS))
def test_public_names_are_found_without_a_list(folder: str) -> None:
    package = importlib.import_module(f"gnomon.encodings.{folder}".rstrip("."))
    for _, cls in FOLDERS[folder]:
        assert getattr(package, cls.__name__) is cls
        assert cls.__name__ in dir(package)
        assert cls.__name__ in package.__all__
    with pytest.raises(AttributeError, match="no attribute 'NoSuchName'"):
        _ = package.NoSuchName
