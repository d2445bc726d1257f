"""Files and functions stay small enough to read in one sitting."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
LONGEST_FILE = 300
LONGEST_FUNCTION = 60


def sources() -> Iterator[Path]:
    for folder in ("src", "tests", "scripts"):
        yield from sorted((ROOT / folder).rglob("*.py"))


def test_no_file_is_longer_than_300_lines() -> None:
    lengths = {str(file.relative_to(ROOT)): len(file.read_text(encoding="utf-8").splitlines()) for file in sources()}
    assert len(lengths) > 20  # the search finds the sources
    assert {name: length for name, length in lengths.items() if length > LONGEST_FILE} == {}


def test_no_function_is_longer_than_60_lines() -> None:
    long = []
    for file in sources():
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                if lines > LONGEST_FUNCTION:
                    long.append(f"{file.relative_to(ROOT)}:{node.lineno}: {node.name} has {lines} lines")
    assert long == []


def test_only_the_command_line_prints() -> None:
    printing = []
    for file in sorted((ROOT / "src" / "gnomon").rglob("*.py")):
        if "cli" in file.relative_to(ROOT / "src" / "gnomon").parts[:1]:
            continue
        tree = ast.parse(file.read_text(encoding="utf-8"))
        calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name))
        printing += [f"{file.relative_to(ROOT)}:{call.lineno}" for call in calls if ast.unparse(call.func) == "print"]
    assert printing == []
