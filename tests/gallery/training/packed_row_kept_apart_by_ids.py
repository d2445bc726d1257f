"""Position ids that start again in the middle of a row look like a fault of the batch.

They are not: the row holds two documents, and transformers keeps them apart by the ids when no mask is given.
"""

from pathlib import Path
from typing import Any

import torch

from tests.gallery.item import LookAlike
from tests.helpers.toys import llama

BATCH = {"input_ids": torch.arange(8)[None] + 5, "position_ids": torch.tensor([[0, 1, 2, 0, 1, 2, 3, 4]])}


def build(folder: Path) -> Any:
    return llama()


ITEM = LookAlike(
    source="page: huggingface.co/blog/packing-with-FA2",
    build=build,
    passes=("PE514", "PE515"),
    evidence={"batches": [BATCH]},
)
