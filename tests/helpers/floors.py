"""Which package imports which, read from the syntax trees. Nothing is imported here."""

import ast
from collections.abc import Iterator
from pathlib import Path

#: From the ground up: a package imports from those before it and from itself.
FLOORS = (
    "errors",
    "registry",
    "cache",
    "plots",
    "report",
    "kernels",
    "positions",
    "encodings",
    "portraits",
    "attention",
    "parallel",
    "adapters",
    "models",
    "finetune",
    "exporting",
    "doctor",
    "testing",
    "lab",
    "advisor",
    "resolving",
    "layouts",
    "extending",
    "bench",
    "cli",
    "__main__",
)
#: Public names that `from gnomon import name` takes from a package of another name.
HOMES = {
    "advise": "advisor",
    "apply_rotary": "kernels",
    "diagnose": "doctor",
    "export": "exporting",
    "extend": "extending",
    "fast_rotary": "adapters",
    "inspect": "doctor",
    "resolve": "resolving",
    "Report": "report",
    "GnomonError": "errors",
}


def violations(package: Path) -> list[str]:
    """One line for each import under the package folder that goes up, sideways, or to an unknown package."""
    found = []
    for file in sorted(package.rglob("*.py")):
        inside = file.relative_to(package)
        if inside == Path("__init__.py"):
            continue  # the lazy table: it imports nothing when it is loaded, which test_public_names.py holds it to
        own = inside.parts[0].removesuffix(".py")
        found += [
            f"{inside}:{line}: {own} imports {other}" for line, other in imports(file) if not _allowed(own, other)
        ]
    return found


def imports(file: Path) -> Iterator[tuple[int, str]]:
    """The line and the first name below `gnomon` of each import, however it is written and however deep it stands."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        for dotted in _imported(node):
            parts = dotted.split(".")
            if parts[0] == "gnomon" and len(parts) > 1 and not parts[1].startswith("__"):
                yield node.lineno, HOMES.get(parts[1], parts[1])  # type: ignore[attr-defined]


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        if node.level:
            return [f"gnomon.relative import of {node.module or '.'}"]
        return [f"gnomon.{alias.name}" for alias in node.names] if node.module == "gnomon" else [node.module or ""]
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "gnomon":
        return [f"gnomon.{node.attr}"]
    if isinstance(node, ast.Call) and node.args and ast.unparse(node.func).endswith("import_module"):
        [first, *_] = node.args
        return [first.value] if isinstance(first, ast.Constant) and isinstance(first.value, str) else []
    return []


def _allowed(own: str, other: str) -> bool:
    if own not in FLOORS or other not in FLOORS:
        return False
    return FLOORS.index(other) <= FLOORS.index(own)
