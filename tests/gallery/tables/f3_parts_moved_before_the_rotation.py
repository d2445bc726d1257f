"""Two implementations of one model have other queries and other keys, and the same scores.

One rotates neighbouring lanes of the rotated part, the other moves them to halves first. Queries and keys are treated
alike, so every product of the two is the same, and neither is wrong.
"""

from pathlib import Path

from torch import nn

from tests.gallery.item import LookAlike
from tests.helpers.tiny_transformers import tiny_model


def build(_: Path) -> nn.Module:
    return tiny_model("deepseek_v3", rope_interleave=True)


ITEM = LookAlike(source="huggingface/transformers#39687", build=build, passes=("PE307", "PE403"))
