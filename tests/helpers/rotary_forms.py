"""Inputs that the tests of rotary forms on several axes share."""

import torch
from torch import Tensor


def scattered(*extents: int, rows: int = 2, count: int = 9, seed: int = 0) -> Tensor:
    """(rows, count, axes) int64: places on a grid of these sizes in no order, others in each row."""
    generator = torch.Generator().manual_seed(seed)
    axes = [torch.randint(extent, (rows, count), generator=generator) for extent in extents]
    return torch.stack(axes, dim=-1)


def heads_last(x: Tensor) -> Tensor:
    """(1, H, S, D) -> (S, H, D), as vision towers hold the patches of all images."""
    return x[0].transpose(0, 1)
