"""The README's tables are what the code has."""

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from gnomon.doctor.check import GROUPS
from gnomon.doctor.check import registry as checks
from gnomon.encodings import registry as encodings

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


def rows(pattern: str) -> list[tuple[str, ...]]:
    found = (re.fullmatch(pattern, line) for line in README.splitlines())
    return [match.groups() for match in found if match]


def test_the_table_of_checks_counts_the_registry() -> None:
    counts = Counter(code[:3] for code, _ in checks)
    written = rows(r"\| (PE\d)xx \| ([^|]*) \| (\d+) \| [^|]* \|")
    assert written == [(group, evidence, str(counts[group])) for group, evidence in GROUPS.items()]


def test_the_table_of_encodings_is_the_registry() -> None:
    assert [row[:2] for row in rows(r"\| `(\w+)` \| `(\w+)` \| (.*) \| (.*) \|")] == [
        (name, cls.__name__) for name, cls in encodings
    ]


@pytest.mark.parametrize("target", sorted(set(re.findall(r"\]\(([^)#]+)\)", README))))
def test_every_link_leads_to_a_file(target: str) -> None:
    assert (Path(__file__).parents[2] / target).is_file()


def test_the_python_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    first, second = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    scope: dict[str, Any] = {}
    exec(second, scope)
    assert scope["groups"][0]["weight_decay"] == 0.1
    exec(first, scope)
    assert scope["report"].ok
    assert scope["ids"].tolist() == [[0, 0, 1]]
