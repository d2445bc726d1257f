"""What the tests of the compiled rotation share: whether it is here, its inner module, and the formula in scalars."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import pytest
import torch
from torch import Tensor

from gnomon.kernels import native

needs_kernel = pytest.mark.skipif(not native.AVAILABLE, reason=f"no compiled rotation: {native.reason()}")
DTYPES = (torch.float32, torch.bfloat16, torch.float16)


def inner() -> Any:
    """The compiled module itself, with the switches that are there for tests."""
    return import_module("gnomon.kernels.native._rotary")


def levels() -> list[str]:
    """The instruction sets that can run here, best first."""
    return list(inner().levels()) if native.AVAILABLE else ["none"]


@contextmanager
def level(name: str) -> Iterator[None]:
    """Take this instruction set inside the `with` block."""
    inner().use_level(name)
    try:
        yield
    finally:
        inner().use_level(levels()[0])


def rotated(
    x: Tensor, cos: Tensor, sin: Tensor, positions: Tensor | None = None, *, interleaved: bool, sign: float = 1.0
) -> Tensor:
    """x (B, H, S, D) turned by the compiled rotation into memory that was full of NaN, one thread."""
    result = torch.full_like(x, math.nan, memory_format=torch.contiguous_format)
    assert native.rotate(((x, result),), cos, sin, positions, interleaved, sign, 1) == -1
    return result


def by_formula(
    x: Tensor, cos: Tensor, sin: Tensor, positions: Tensor | None = None, *, interleaved: bool, sign: float = 1.0
) -> Tensor:
    """The same in float64, pair by pair: (a, b) -> (a cos - b sin, b cos + a sin). cos and sin as for the kernel."""
    batch, heads, length, _ = x.shape
    pairs = cos.shape[-1]
    numbers, result = x.double().tolist(), x.double().clone()
    cosines, sines = cos.double().tolist(), sin.double().tolist()
    for b in range(batch):
        for s in range(length):
            if positions is not None:
                row = int(positions[b % len(positions), s])
                c, z = cosines[row], sines[row]
            else:
                c = cosines[s] if cos.dim() == 2 else cosines[b % len(cosines)][s]
                z = sines[s] if sin.dim() == 2 else sines[b % len(sines)][s]
            for h in range(heads):
                vector = numbers[b][h][s]
                for i in range(pairs):
                    first, second = (2 * i, 2 * i + 1) if interleaved else (i, i + pairs)
                    result[b, h, s, first] = vector[first] * c[i] - vector[second] * sign * z[i]
                    result[b, h, s, second] = vector[second] * c[i] + vector[first] * sign * z[i]
    return result


def random(*shape: int, dtype: torch.dtype = torch.float32, seed: int = 0) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def angles(*shape: int, seed: int = 1) -> tuple[Tensor, Tensor]:
    """Cosines and sines of random angles, float32 of this shape."""
    radians = random(*shape, seed=seed) * 3
    return radians.cos(), radians.sin()
