"""Places on a grid in reading order, as the encodings of images take them."""

import torch
from torch import Tensor


def places(*extents: int) -> Tensor:
    """(1, product of the extents, axes) int64, the last axis fastest."""
    axes = (torch.arange(extent) for extent in extents)
    return torch.stack(torch.meshgrid(*axes, indexing="ij"), dim=-1).reshape(1, -1, len(extents))


def with_prefix(count: int, *extents: int) -> Tensor:
    """`count` tokens without a place, then those of the grid."""
    return torch.cat((torch.full((1, count, len(extents)), -1), places(*extents)), dim=1)
