"""Generation fails an assertion on the table: one passed in from outside is used again without a look at its length."""

from pathlib import Path
from typing import Any

from tests.gallery.item import Fault
from tests.helpers.gallery_decoding import Tabled, tokens


class Rebuilds(Tabled):
    def need(self, new: int, past: int) -> None:
        if past + new > len(self.table):
            self.table = self.built(past + new)


class RebuildsAtTheStart(Rebuilds):
    def need(self, new: int, past: int) -> None:
        if past:
            assert past + new <= len(self.table), f"seq_len {past + new} > {len(self.table)}"
        super().need(new, past)


def faulty(_: Path) -> Any:
    return tokens(RebuildsAtTheStart(rows=16))


def healthy(_: Path) -> Any:
    return tokens(Rebuilds(rows=16))


ITEM = Fault(
    source="unslothai/unsloth#3036, unslothai/unsloth#3578",
    check="PE410",
    where="the cache",
    right=r"fails .*seq_len 18 > 16 .* 18 tokens need 18 rows",
    build=faulty,
    healthy=healthy,
)
