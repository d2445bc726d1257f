"""What the checks of several processes share: drawn encodings, inputs, and the greatest difference over all ranks."""

from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn

from gnomon.encodings import PositionEncoding, registry

HEADS, WIDTH, LENGTH = 12, 4, 16
DIM = HEADS * WIDTH


def drawn(name: str, **options: Any) -> PositionEncoding:
    """A registered encoding with parameters far from those it starts with, the same on every rank."""
    torch.manual_seed(3)
    cls = registry.get(name)
    encoding = cls(**options) if options else cls.sample(HEADS, WIDTH)
    with torch.no_grad():
        for parameter in encoding.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.1)
    return encoding


def positions_for(encoding: PositionEncoding, length: int = LENGTH, start: int = 3) -> Tensor:
    """(1, length), or with coordinates (1, length, axes) on a grid of 4 columns."""
    places = torch.arange(start, start + length)
    if encoding.axes == 1:
        return places[None]
    rest = [torch.zeros_like(places)] * (encoding.axes - 2)
    return torch.stack([*rest, torch.arange(length) // 4, torch.arange(length) % 4], dim=-1)[None]


def random(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def error(got: Tensor, want: Tensor) -> float:
    """The greatest difference, for numbers of size 1 or, where they are larger, of the largest; over all ranks."""
    assert got.shape == want.shape, f"{tuple(got.shape)} instead of {tuple(want.shape)}"
    difference = (got.detach() - want.detach()).abs().max() / want.detach().abs().max().clamp_min(1)
    dist.all_reduce(difference, op=dist.ReduceOp.MAX)
    return difference.item() if difference.isfinite() else float("inf")


def gradients(module: nn.Module) -> dict[str, Tensor]:
    """The gradient of each parameter; zero where there is none."""
    return {
        name: torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
        for name, parameter in module.named_parameters()
    }


def worst(got: dict[str, Tensor], want: dict[str, Tensor]) -> float:
    assert got.keys() == want.keys(), f"{sorted(got)} instead of {sorted(want)}"
    return max(error(got[name], want[name]) for name in sorted(want))
