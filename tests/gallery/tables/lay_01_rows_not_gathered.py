"""An exported Llama runs, and is quietly wrong in every layer: its query and key rows still stand in pairs.

The trainer rotates neighbouring lanes. Both ways to export leave the flag for that at its default, so the rows are
never moved to halves, which is what the exported class rotates. Position 0 is exact, so a test there proves nothing.
"""

from pathlib import Path

import torch

from tests.gallery.item import Fault
from tests.helpers.pairwise_llama import Trained


def faulty(folder: Path) -> Path:
    return Trained(interleaved=True).export(folder, gathered=False)


def healthy(folder: Path) -> Path:
    return Trained(interleaved=True).export(folder, gathered=True)


ITEM = Fault(
    source="huggingface/nanotron#427",
    check="PE219",
    where="self_attn.q_proj",
    right=r"\[0, 2, 4, 6, 1, 3, 5, 7\]",
    build=faulty,
    healthy=healthy,
    evidence={"reference": (Trained(interleaved=True), (torch.arange(7)[None],))},
)
