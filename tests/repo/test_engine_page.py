"""The page of engines is written from the code of the resolver."""

from pathlib import Path

from gnomon.resolving.gallery import gallery
from gnomon.resolving.stack import registry
from scripts.engine_pages import page

PAGE = Path(__file__).parents[2] / "docs" / "engines.md"


def test_the_page_is_as_the_code_says() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run `make pages`"


def test_every_engine_and_every_config_stands_on_it() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert all(f"(`{name}`, " in text for name in registry.names())
    assert all(f"| {entry.title} |" in text for entry in gallery())
