"""The pages of the checks are written from the code, and every check has a failing and a passing example."""

from pathlib import Path

import pytest

from gnomon.doctor.check import Check, registry
from scripts.check_pages import pages
from tests.gallery.item import Fault, items

FOLDER = Path(__file__).parents[2] / "docs" / "checks"
CHECKS = [check for _, check in registry]


def test_the_pages_are_as_the_code_says() -> None:
    stored = {file.name: file.read_text(encoding="utf-8") for file in FOLDER.glob("*.md")}
    written = pages()
    assert sorted(stored) == sorted(written), "run `make pages`"
    assert [name for name in written if written[name] != stored[name]] == [], "run `make pages`"


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.code)
def test_every_check_has_an_example_in_the_gallery(check: Check) -> None:
    assert any(item.check == check.code for _, item in items() if isinstance(item, Fault))
