"""Foreign formats are known to `adapters` alone: elsewhere nothing packs bytes, opens tensors, or reads a pickle."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "src" / "gnomon"
MODULES = frozenset({"struct", "pickle", "mmap", "safetensors", "gguf"})
CALLS = frozenset({"torch.load", "torch.save"})
#: a study's own files, which no other program writes
OWN = frozenset({"lab/training/checkpoint.py"})


def uses(code: str) -> Iterator[str]:
    """The names among those above that a module imports or speaks of, however deep."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.partition(".")[0] in MODULES)
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            yield from [module] if module.partition(".")[0] in MODULES else []
            yield from (f"{module}.{a.name}" for a in node.names if f"{module}.{a.name}" in CALLS)
        elif isinstance(node, ast.Attribute) and (name := ast.unparse(node)) in CALLS:
            yield name


def test_formats_of_others_are_known_to_adapters_alone() -> None:
    found = {
        inside.as_posix(): names
        for file in PACKAGE.rglob("*.py")
        if (inside := file.relative_to(PACKAGE)).parts[0] != "adapters"
        and (names := sorted(set(uses(file.read_text(encoding="utf-8")))))
    }
    assert found.keys() == OWN, found


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("import struct", "struct"),
        ("def f():\n    from safetensors import safe_open", "safetensors"),
        ("from gguf.constants import GGMLQuantizationType", "gguf.constants"),
        ("import torch\nheld = torch.load('x', weights_only=True)", "torch.load"),
        ("from torch import load", "torch.load"),
    ],
)
def test_each_way_to_one_is_seen(code: str, name: str) -> None:
    assert list(uses(code)) == [name]
