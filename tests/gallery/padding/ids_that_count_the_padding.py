"""Rows of a left-padded training batch learn from other rows of the table than the same text alone.

Cause: the collator passes arange as position ids for every row, padded or not.
"""

from pathlib import Path

import torch
from torch import Tensor

from gnomon import positions
from tests.gallery.item import Fault
from tests.helpers.toys import Toy

MASK = torch.tensor([[0, 0, 0, 1, 1, 1, 1, 1], [1, 1, 1, 1, 1, 1, 1, 1]])
TOKENS = torch.arange(16).reshape(2, 8) % 30 + 3


def batch(ids: Tensor) -> list[dict[str, Tensor]]:
    return [{"tokens": TOKENS, "attention_mask": MASK, "position_ids": ids}]


def model(_: Path) -> tuple[Toy, dict[str, Tensor]]:
    return Toy(), {"tokens": TOKENS}


ITEM = Fault(
    source="huggingface/transformers#21080, huggingface/trl#469",
    check="PE514",
    where="position_ids",
    right="after 3 padded slots the first real token has position 3, not 0.*from_mask",
    build=model,
    healthy=model,
    evidence={"batches": batch(torch.arange(8).expand(2, -1))},
    healthy_evidence={"batches": batch(positions.from_mask(MASK))},
    severity="warning",
)
