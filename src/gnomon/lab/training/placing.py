"""Positions for a batch, as a run asks for them."""

import torch
from jaxtyping import Int64
from torch import Tensor

from gnomon.errors import PositionError
from gnomon.lab.tasks.base import Batch, Split
from gnomon.lab.training.options import Placing
from gnomon.positions import from_mask, randomized


def place(placing: Placing, batch: Batch, split: Split, generator: torch.Generator) -> Int64[Tensor, "B S"] | None:
    """(B, S) positions, or None where the model counts for itself. Rows with padding count their tokens first.

    Raises PositionError for rows with more slots than there are positions.
    """
    if placing.kind == "counted" or (placing.kind == "offset" and split == "test"):
        return None
    rows, slots = batch.ids.shape
    if slots > placing.limit:
        raise PositionError(f"A row of {slots} slots does not fit into {placing.limit} positions; raise the limit.")
    counted = torch.arange(slots).expand(rows, slots) if batch.real is None else from_mask(batch.real)
    if placing.kind == "offset":
        return counted + torch.randint(placing.limit - slots + 1, (rows, 1), generator=generator)
    return randomized(slots, placing.limit, generator, rows=rows).gather(-1, counted)
