"""Rotations of queries and keys as people write them, all the same mathematics, and a model that uses any of them."""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - torch's own name for it

Rotate = Callable[[Tensor, Tensor], Tensor]  # vectors (..., D), angles (..., D/2), broadcast


def half_full(x: Tensor, angles: Tensor) -> Tensor:
    wide, (a, b) = torch.cat((angles, angles), -1), x.chunk(2, -1)
    return x * wide.cos() + torch.cat((-b, a), -1) * wide.sin()


def half_full_sine_first(x: Tensor, angles: Tensor) -> Tensor:
    wide, (a, b) = torch.cat((angles, angles), -1), x.chunk(2, -1)
    return (torch.cat((-b, a), -1) * wide.sin()) + (wide.cos() * x)


def half_cast_late_sine_first(x: Tensor, angles: Tensor) -> Tensor:
    wide, (a, b) = torch.cat((angles, angles), -1).double(), x.chunk(2, -1)
    turned = torch.cat((-b, a), -1)
    return (turned.double() * wide.sin() + x.double() * wide.cos()).type_as(x)


def half_of_half_tables(x: Tensor, angles: Tensor) -> Tensor:
    cos, sin, (a, b) = angles.cos(), angles.sin(), x.chunk(2, -1)
    return torch.cat((a * cos - b * sin, b * cos + a * sin), -1)


def half_in_float32(x: Tensor, angles: Tensor) -> Tensor:
    return half_of_half_tables(x.double(), angles.double()).type_as(x)


def half_by_negation(x: Tensor, angles: Tensor) -> Tensor:
    cos, sin, (a, b) = angles.cos(), angles.sin(), x.chunk(2, -1)
    return torch.cat((-b * sin + a * cos, a * sin + b * cos), -1)


def half_by_addcmul(x: Tensor, angles: Tensor) -> Tensor:
    cos, sin, (a, b) = angles.cos(), angles.sin(), x.chunk(2, -1)
    return torch.cat((torch.addcmul(a * cos, b, sin, value=-1), torch.addcmul(b * cos, a, sin)), -1)


def half_full_by_addcmul(x: Tensor, angles: Tensor) -> Tensor:
    wide, (a, b) = torch.cat((angles, angles), -1), x.chunk(2, -1)
    return torch.addcmul(x * wide.cos(), torch.cat((-b, a), -1), wide.sin())


def half_in_place(x: Tensor, angles: Tensor) -> Tensor:
    cos, sin, (a, b) = angles.cos(), angles.sin(), x.chunk(2, -1)
    first, second = a * cos, b * cos
    first -= b * sin
    second += a * sin
    return torch.cat((first, second), -1)


def half_by_roll(x: Tensor, angles: Tensor) -> Tensor:
    width, wide = x.shape[-1] // 2, torch.cat((angles, angles), -1)
    sign = torch.cat((-torch.ones(width), torch.ones(width)))
    return x * wide.cos() + x.roll(width, -1) * sign * wide.sin()


def half_by_complex(x: Tensor, angles: Tensor) -> Tensor:
    turned = torch.complex(*x.chunk(2, -1)) * torch.polar(torch.ones_like(angles), angles)
    return torch.cat((turned.real, turned.imag), -1)


def pairs_stacked(x: Tensor, angles: Tensor) -> Tensor:
    cos, sin, a, b = angles.cos(), angles.sin(), x[..., 0::2], x[..., 1::2]
    return torch.stack((a * cos - b * sin, a * sin + b * cos), -1).flatten(-2)


def pairs_reshaped(x: Tensor, angles: Tensor) -> Tensor:
    shaped = x.float().reshape(*x.shape[:-1], -1, 2)
    cos, sin, a, b = angles.cos(), angles.sin(), shaped[..., 0], shaped[..., 1]
    return torch.stack([a * cos - b * sin, b * cos + a * sin], -1).flatten(-2).type_as(x)


def pairs_full(x: Tensor, angles: Tensor) -> Tensor:
    wide = angles.repeat_interleave(2, -1)
    return x * wide.cos() + torch.stack((-x[..., 1::2], x[..., 0::2]), -1).reshape_as(x) * wide.sin()


def pairs_written_into(x: Tensor, angles: Tensor) -> Tensor:
    turned, wide = torch.zeros_like(x), angles.repeat_interleave(2, -1)
    turned[..., 0::2], turned[..., 1::2] = -x[..., 1::2], x[..., 0::2]
    return x * wide.cos() + turned * wide.sin()


def pairs_complex(x: Tensor, angles: Tensor) -> Tensor:
    z = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
    return torch.view_as_real(z * torch.polar(torch.ones_like(angles), angles)).flatten(-2).type_as(x)


def pairs_complex_turn_first(x: Tensor, angles: Tensor) -> Tensor:
    z = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous())
    return torch.view_as_real(torch.exp(1j * angles) * z).flatten(-2)


SPELLINGS: dict[str, tuple[Rotate, ...]] = {
    "half": (
        *(half_full, half_full_sine_first, half_of_half_tables, half_in_float32, half_by_negation, half_by_addcmul),
        *(half_cast_late_sine_first, half_full_by_addcmul, half_in_place, half_by_roll, half_by_complex),
    ),
    "interleaved": (
        *(pairs_stacked, pairs_reshaped, pairs_full, pairs_written_into, pairs_complex, pairs_complex_turn_first),
    ),
}
FORMS = [(layout, rotate) for layout, forms in SPELLINGS.items() for rotate in forms]
BASE, HEADS, WIDTH = 500.0, 3, 8


class Spelled(nn.Module):
    """Two attentions whose queries and keys are turned by `rotate`, in an order of axes, all lanes or the first 4."""

    def __init__(self, rotate: Rotate, *, order: str = "BHSD", rotated: int = WIDTH) -> None:
        super().__init__()
        torch.manual_seed(0)
        dim = HEADS * WIDTH
        self.words = nn.Embedding(40, dim)
        self.layers = nn.ModuleList([nn.Linear(dim, 3 * dim) for _ in range(2)])
        self.rotate, self.order, self.rotated = rotate, order, rotated

    def turn(self, x: Tensor, angles: Tensor) -> Tensor:
        """(B, S, H, D) -> the same, turned in the order of axes of this model."""
        axes = {"BHSD": (0, 2, 1, 3), "BSHD": (0, 1, 2, 3), "SBHD": (1, 0, 2, 3)}[self.order]
        x = x.permute(axes)
        shape = [1, 1, 1, angles.shape[-1]]
        shape[axes.index(1)] = len(angles)
        angles = angles.reshape(shape)
        turned = self.rotate(x[..., : self.rotated], angles)
        whole = turned if self.rotated == WIDTH else torch.cat((turned, x[..., self.rotated :]), -1)
        return whole.permute([axes.index(i) for i in range(4)])

    def forward(self, tokens: Tensor) -> Tensor:
        x: Tensor = self.words(tokens)
        length = tokens.shape[1]
        angles = torch.arange(length)[:, None] * BASE ** (-torch.arange(0, self.rotated, 2) / self.rotated)
        for layer in self.layers:
            q, k, v = (t.unflatten(-1, (HEADS, WIDTH)) for t in layer(x).chunk(3, -1))
            q, k, v = (t.transpose(1, 2) for t in (self.turn(q, angles), self.turn(k, angles), v))
            x = x + F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2)
        return x
