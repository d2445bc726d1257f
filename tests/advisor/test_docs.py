"""docs/advisor.md is what the code does: its rules, its rows of the article, its options, its example, its JSON."""

import inspect
import json
import re
from pathlib import Path

import pytest

import gnomon
from gnomon.advisor import article, rules_in_order
from gnomon.cli.advise import advise as command
from tests.advisor.configs import LLAMA_4K
from tests.helpers.command import gnomon as run

PAGE = (Path(__file__).parents[2] / "docs" / "advisor.md").read_text(encoding="utf-8")
ROWS = (article.LONG, article.STABLE, article.RELATIVE, article.EDGE, article.DEFAULT)


def rows_after(heading: str) -> list[str]:
    """The rows of the first table below a heading, without its head."""
    section = PAGE.split(f"## {heading}\n")[1].split("\n## ")[0]
    return [line for line in section.splitlines() if line.startswith("| ")][1:]


def test_every_rule_stands_there_in_order_with_its_source() -> None:
    expected = [f"| {it.stage} | `{it.name}` | {it.summary} | {it.source} |" for it in rules_in_order()]
    assert rows_after("The rules") == expected
    assert all(line.count("|") == 5 for line in expected)


def test_every_row_of_the_article_stands_there_with_what_is_different() -> None:
    found = rows_after("The article's table and ours")
    assert [line.split(" | ")[0].removeprefix("| ") for line in found] == [row.title for row in ROWS]
    for line, row in zip(found, ROWS, strict=True):
        assert f"| {row.says} |" in line
        assert line.endswith(f"| {row.why} |")


def test_every_argument_and_option_stands_there() -> None:
    section = PAGE.split("## What is asked\n")[1].split("\n## ")[0]
    arguments = inspect.signature(gnomon.advise).parameters
    assert set(arguments) <= set(re.findall(r"`(\w+)`", section))
    listed = set(re.findall(r"`--([\w-]+)`", section))
    named = {"longest": "max", "data_size": "data-size"}
    options = {named.get(name, name.replace("_", "-")) for name in inspect.signature(command).parameters}
    assert options - {"explain", "format", "output"} <= listed


def test_the_example_is_what_the_command_prints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    block = re.search(r"<!-- example -->\n```\n\$ gnomon ([^\n]*)\n(.*?)\n```", PAGE, re.DOTALL)
    assert block is not None
    (tmp_path / "config.json").write_text(json.dumps(LLAMA_4K), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    outcome = run(*block.group(1).split())
    assert outcome.stderr == ""
    printed = outcome.stdout
    assert printed.startswith(f"gnomon {gnomon.__version__}: advice\n")
    first = printed.split("\n\n2. ")[0].replace(gnomon.__version__, "0.1.0", 1)
    assert block.group(2) == first


def test_the_json_on_the_page_has_the_fields_of_the_code() -> None:
    section = PAGE.split("## JSON\n")[1]
    found = json.loads(gnomon.advise("code").to_json())
    for name in (*found, *found["recommendations"][0], *found["fired"][0], *found["article"][0]):
        assert f'"{name}":' in section, name
