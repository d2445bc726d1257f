"""Every encoding and every frequency rule has a page that is true: promises, options, picture, links, an example."""

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

from gnomon.encodings import registry as encodings
from gnomon.encodings.frequencies import registry as rules
from tests.helpers.docs_pages import promises

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs" / "encodings"
PAGES = {f"{name}.md": cls for name, cls in encodings} | {f"frequencies/{name}.md": cls for name, cls in rules}
HEADINGS = ["Formula", "Promises", "Options", "Advice", "Used by", "Example", "Sources"]


def text(page: str) -> str:
    return (DOCS / page).read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES)
def test_each_registered_name_has_a_page_in_the_usual_order(page: str) -> None:
    content = text(page)
    assert content.startswith(f"# {PAGES[page].__name__}\n")
    without = {"Promises"} if page.startswith("frequencies/") else set()
    if page == "nope.md":
        without |= {"Options"}
    assert re.findall(r"^## (.*)$", content, re.MULTILINE) == [name for name in HEADINGS if name not in without]
    assert "$$" in content


def test_no_page_is_left_without_its_code() -> None:
    written = {str(path.relative_to(DOCS)) for path in DOCS.rglob("*.md")}
    assert written == {*PAGES, "README.md"}


@pytest.mark.parametrize("name", encodings.names())
def test_the_promises_on_the_page_are_those_of_the_code(name: str) -> None:
    assert promises(name) in text(f"{name}.md")


@pytest.mark.parametrize("page", PAGES)
def test_the_options_on_the_page_are_those_of_the_constructor(page: str) -> None:
    section = re.search(r"^## Options\n(.*?)^## ", text(page), re.MULTILINE | re.DOTALL)
    written = re.findall(r"^\| `(\w+)` \|", section.group(1), re.MULTILINE) if section else []
    assert written == list(inspect.signature(PAGES[page]).parameters)


@pytest.mark.parametrize("page", [*PAGES, "README.md"])
def test_every_link_and_picture_is_a_file(page: str) -> None:
    targets = re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", text(page))
    local = [target for target in targets if not target.startswith("http")]
    assert [target for target in local if not (DOCS / page).parent.joinpath(target).is_file()] == []
    pictures = [target for target in local if target.endswith(".png")]
    assert len(pictures) == (0 if page in ("nope.md", "README.md") else 1)


@pytest.mark.parametrize("page", PAGES)
def test_pages_name_their_source_file_and_only_checks_that_exist(page: str) -> None:
    from gnomon.doctor.check import registry as checks

    content = text(page)
    assert f"src/gnomon/encodings/{page.removesuffix('.md')}.py" in content
    assert set(re.findall(r"PE\d{3}", content)) <= set(checks.names())


def test_every_example_runs() -> None:
    """In one process, each in a scope of its own."""
    blocks = {page: re.findall(r"```python\n(.*?)```", text(page), re.DOTALL) for page in PAGES}
    assert [page for page, found in blocks.items() if len(found) != 1] == []
    program = "".join(f"print({page!r}, flush=True)\nexec({found[0]!r}, {{}})\n" for page, found in blocks.items())
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, (ran.stdout.splitlines()[-1:], ran.stderr)


def test_the_index_names_every_page_once() -> None:
    linked = re.findall(r"\]\(([^)#]+\.md)\)", text("README.md"))
    assert sorted(linked) == sorted([*PAGES, "../parity.md"])
