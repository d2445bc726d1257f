"""Inputs with and without padding, for the checks that compare the two."""

import torch
from torch import Tensor

from gnomon.adapters.subject import MissingEvidence
from gnomon.doctor.evidence.calling import Model

LENGTH, PADS = 9, 4


def padded_on_the_left(probe: Model) -> tuple[Tensor, Tensor, Tensor]:
    """Two rows (2, LENGTH), the same behind PADS places of padding, and the mask of those."""
    whole = _whole(probe)
    mask = torch.ones(whole.shape[:2], dtype=torch.int64, device=whole.device)
    mask[:, :PADS] = 0
    return whole[:, PADS:].contiguous(), whole, mask


def padded_on_the_right(probe: Model) -> tuple[Tensor, Tensor, Tensor]:
    """Two rows (2, LENGTH), the same before PADS places of padding, and the mask of those."""
    whole = _whole(probe)
    mask = torch.ones(whole.shape[:2], dtype=torch.int64, device=whole.device)
    mask[:, -PADS:] = 0
    return whole[:, :-PADS].contiguous(), whole, mask


def _whole(probe: Model) -> Tensor:
    if probe.signature.mask is None:
        raise MissingEvidence("the forward takes no attention mask")
    length = min(LENGTH, probe.limit - PADS)
    if length < 2:
        raise MissingEvidence(f"the model takes {probe.limit} positions, too few to pad")
    return probe.draw(2, PADS + length, seed=61)
