"""A converted Llama rotates halves where the original rotates pairs: right, since its rows were gathered to match."""

from pathlib import Path

import torch

from tests.gallery.item import LookAlike
from tests.helpers.pairwise_llama import Trained


def build(folder: Path) -> Path:
    return Trained(interleaved=True).export(folder, gathered=True)


ITEM = LookAlike(
    source="huggingface/transformers#25199, huggingface/transformers#31859",
    build=build,
    passes=("PE219", "PE307"),
    evidence={"reference": (Trained(interleaved=True), (torch.arange(7)[None],))},
)
