"""The rotation of a transformers model replaced by one of the other pairs, written out pair by pair."""

import inspect
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.kernels.rotation import Layout

NAME = "apply_rotary_pos_emb"


def turned(x: Tensor, cos: Tensor, sin: Tensor, layout: Layout, width: int) -> Tensor:
    """(..., D) with (..., P) cosines and sines, one for each pair of the first `width` lanes."""
    out = x.clone()
    for pair in range(width // 2):
        a, b = (pair, pair + width // 2) if layout == "half" else (2 * pair, 2 * pair + 1)
        c, s = cos[..., pair], sin[..., pair]
        out[..., a] = x[..., a] * c - x[..., b] * s
        out[..., b] = x[..., b] * c + x[..., a] * s
    return out


@contextmanager
def rotating(model: nn.Module, layout: Layout) -> Iterator[None]:
    """The model turns the pairs of `layout` meanwhile, whatever its class does."""
    module = sys.modules[type(model).__module__]
    before = getattr(module, NAME)
    form = next(iter(inspect.signature(before).parameters))

    def both(q: Tensor, k: Tensor, cos: Tensor, sin: Tensor, unsqueeze_dim: int = 1) -> tuple[Tensor, Tensor]:
        return one(q, cos, sin, unsqueeze_dim), one(k, cos, sin, unsqueeze_dim)

    def one(x: Tensor, cos: Tensor, sin: Tensor, unsqueeze_dim: int = 1) -> Tensor:
        c, s = (_by_pair(part).unsqueeze(unsqueeze_dim) for part in (cos, sin))
        return turned(x, c, s, layout, 2 * c.shape[-1])

    def sines_first(tensor: Tensor, sin: Tensor, cos: Tensor) -> Tensor:
        return turned(tensor, cos[:, :, None], sin[:, :, None], layout, 2 * cos.shape[-1])

    forms: dict[str, Any] = {"q": both, "x": one, "tensor": sines_first}
    setattr(module, NAME, forms[form])
    try:
        yield
    finally:
        setattr(module, NAME, before)


def _by_pair(values: Tensor) -> Tensor:
    """One number for each pair, from a table that holds each number twice, side by side or one half after the other."""
    first, second = values.chunk(2, dim=-1)
    if torch.equal(first, second):
        return first
    return values[..., ::2] if torch.equal(values[..., ::2], values[..., 1::2]) else values


def redrawn(model: nn.Module, seed: int = 0) -> nn.Module:
    """Weights so large that scores matter, and norms and biases that differ from lane to lane."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            drawn = torch.randn(weight.shape, generator=generator)
            weight.copy_(1 + 0.3 * drawn if "norm" in name.lower() and "bias" not in name else 0.4 * drawn)
    return model
