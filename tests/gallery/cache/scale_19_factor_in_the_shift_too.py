"""A context shift does not fit the graph: turning cached keys multiplies them by the attention factor once more."""

from pathlib import Path
from typing import Any

from tests.gallery.item import Fault
from tests.helpers.gallery_caches import Shifted, Shifting
from tests.helpers.gallery_decoding import tokens


def faulty(_: Path) -> Any:
    return tokens(Shifting(Shifted, scale=1.2773))


def healthy(_: Path) -> Any:
    return tokens(Shifting(Shifted))


ITEM = Fault(
    source="ggml-org/llama.cpp#17945",
    check="PE415",
    where="the cache",
    right=r"length of cached keys by 1\.277 .* plain rotation, factor 1\.0",
    build=faulty,
    healthy=healthy,
)
