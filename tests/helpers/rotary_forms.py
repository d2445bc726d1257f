"""Judges and inputs that the tests of rotary forms on several axes share."""

import importlib
import importlib.util
import sys
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch import Tensor


@cache
def timm_rotary() -> Any:
    """timm's rotary file with the few files beside it that it needs; the package itself needs torchvision."""
    found = importlib.util.find_spec("timm")
    if found is None or found.origin is None:
        raise ModuleNotFoundError("timm is not installed; scripts/setup.sh installs it.")
    package = ModuleType("timm_layers_alone")
    package.__path__ = [str(Path(found.origin).parent / "layers")]
    sys.modules[package.__name__] = package
    return importlib.import_module(f"{package.__name__}.pos_embed_sincos")


def scattered(*extents: int, rows: int = 2, count: int = 9, seed: int = 0) -> Tensor:
    """(rows, count, axes) int64: places on a grid of these sizes in no order, others in each row."""
    generator = torch.Generator().manual_seed(seed)
    axes = [torch.randint(extent, (rows, count), generator=generator) for extent in extents]
    return torch.stack(axes, dim=-1)


def heads_last(x: Tensor) -> Tensor:
    """(1, H, S, D) -> (S, H, D), as vision towers hold the patches of all images."""
    return x[0].transpose(0, 1)
