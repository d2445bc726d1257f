"""Decoding past the table fails, one pass does not: the table grows by the call's tokens, not by the cached ones."""

from pathlib import Path
from typing import Any

from tests.gallery.item import Fault
from tests.helpers.gallery_decoding import Tabled, tokens


class Grows(Tabled):
    def need(self, new: int, past: int) -> None:
        if past + new > len(self.table):
            self.table = self.built(past + new)


class GrowsByTheCall(Grows):
    def need(self, new: int, past: int) -> None:
        super().need(new, 0)


def faulty(_: Path) -> Any:
    return tokens(GrowsByTheCall(rows=8))


def healthy(_: Path) -> Any:
    return tokens(Grows(rows=8))


ITEM = Fault(
    source="huggingface/transformers#15444",
    check="PE410",
    where="the cache",
    right=r"beyond 8 rows .* 10 tokens need 10 rows; grow, or refuse",
    build=faulty,
    healthy=healthy,
)
