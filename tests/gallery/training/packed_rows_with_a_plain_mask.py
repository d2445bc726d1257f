"""Packing several documents into a row makes training worse.

Cause: ids start again for each document, but a mask of ones is passed beside them, so attention sees one causal row.
Without the mask transformers reads the borders from the ids.
"""

from pathlib import Path
from typing import Any

import torch

from tests.gallery.item import Fault
from tests.helpers.toys import llama

PACKED = {"input_ids": torch.arange(8)[None] + 5, "position_ids": torch.tensor([[0, 1, 2, 0, 1, 2, 3, 4]])}


def build(folder: Path) -> Any:
    return llama()


ITEM = Fault(
    source="page: huggingface.co/blog/packing-with-FA2",
    check="PE515",
    where="batch 0",
    right="start again at token 3.*mask of documents",
    build=build,
    healthy=build,
    evidence={"batches": [{**PACKED, "attention_mask": torch.ones(1, 8, dtype=torch.int64)}]},
    healthy_evidence={"batches": [PACKED]},
    severity="warning",
)
