"""Transformer-XL's memory has the wrong extent when a segment is not as long as it: two lengths are swapped."""

from pathlib import Path
from typing import Any

from torch import Tensor

from tests.gallery.item import Fault
from tests.helpers.gallery_caches import Sinking
from tests.helpers.gallery_decoding import tokens


class TakesTheQuery(Sinking):
    def cut(self, x: Tensor, room: int, new: int) -> Tensor:
        return super().cut(x, new if new > 1 else room, new)


def faulty(_: Path) -> Any:
    return tokens(TakesTheQuery())


def healthy(_: Path) -> Any:
    return tokens(Sinking())


ITEM = Fault(
    source="huggingface/transformers#2970, huggingface/transformers#3580",
    check="PE412",
    where="the cache",
    right=r"the cache holds 3 tokens, and 6 when fed one at a time .* after each call: 6 tokens",
    build=faulty,
    healthy=healthy,
)
