"""Tables of positions for longer inputs and other images: as functions on tensors, and for a checkpoint folder.

>>> import torch
>>> from gnomon.extending.tables import interpolated
>>> interpolated(torch.randn(512, 384), 2048).shape
torch.Size([2048, 384])
"""

from gnomon.extending.tables.asked import asked
from gnomon.extending.tables.grids import grid
from gnomon.extending.tables.hierarchy import hierarchical
from gnomon.extending.tables.interpolating import interpolated
from gnomon.extending.tables.keeping import keep_first
from gnomon.extending.tables.options import METHODS, Options
from gnomon.extending.tables.planning import plan_tables
from gnomon.extending.tables.tiling import tiled
from gnomon.extending.tables.windows import window

__all__ = [
    "METHODS",
    "Options",
    "asked",
    "grid",
    "hierarchical",
    "interpolated",
    "keep_first",
    "plan_tables",
    "tiled",
    "window",
]
