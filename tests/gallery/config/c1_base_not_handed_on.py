"""Changing the base of an image model does nothing: the embedder keeps it and calls the helper without it.

The original has three axes; one is enough to show it.
"""

from pathlib import Path

from torch import Tensor

from tests.gallery.item import Fault
from tests.helpers.gallery_configs import TurningDecoder, llama_config, powers, turning


class Embedder:
    """Keeps the base it is given; `forgets` is the call as it was written."""

    def __init__(self, base: float, *, forgets: bool) -> None:
        self.base, self.forgets = base, forgets

    def frequencies(self) -> Tensor:
        return helper() if self.forgets else helper(self.base)


def helper(base: float = 10_000.0) -> Tensor:
    return powers(base)


def faulty(folder: Path) -> TurningDecoder:
    return turning(Embedder(2000.0, forgets=True).frequencies())


def healthy(folder: Path) -> TurningDecoder:
    return turning(Embedder(2000.0, forgets=False).frequencies())


ITEM = Fault(
    source="huggingface/diffusers#10111",
    check="PE307",
    where="layers",
    right=r"follow base 10000, the config says 2000",
    build=faulty,
    healthy=healthy,
    evidence={"config": llama_config(rope_theta=2000.0)},
)
