"""Long evaluation prompts crash or get a wrong row: the bound tests the chunk, the slice begins behind the cache."""

from pathlib import Path
from typing import Any

from tests.gallery.item import Fault
from tests.helpers.gallery_decoding import Tabled, tokens


class TestsTheChunk(Tabled):
    def need(self, new: int, past: int) -> None:
        super().need(new, 0)


def faulty(_: Path) -> Any:
    return tokens(TestsTheChunk(rows=32))


def healthy(_: Path) -> Any:
    return tokens(Tabled(rows=32))


ITEM = Fault(
    source="karpathy/nanochat#520, karpathy/nanochat#514",
    check="PE410",
    where="the cache",
    right=r"the table has 32 rows, but .* 3 tokens after 31 are taken .* 34 tokens need 34 rows; grow, or refuse",
    build=faulty,
    healthy=healthy,
)
