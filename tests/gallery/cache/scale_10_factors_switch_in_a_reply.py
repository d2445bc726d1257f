"""Random tokens in the middle of a reply: the factors switch at the original length, cached keys keep the old ones."""

from pathlib import Path
from typing import Any

from tests.gallery.item import Fault
from tests.helpers.gallery_decoding import Rescaled, tokens


def faulty(_: Path) -> Any:
    return tokens(Rescaled(original=8, factor=4.0))


def healthy(_: Path) -> Any:
    return tokens(Rescaled(original=0, factor=4.0))


ITEM = Fault(
    source="vllm-project/vllm#27414, vllm-project/vllm#27431",
    check="PE409",
    where="the cache",
    right=r"change beyond length 8, .* one set of frequencies for the whole request",
    build=faulty,
    healthy=healthy,
)
