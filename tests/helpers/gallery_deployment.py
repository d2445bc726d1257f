"""A small decoder in plain PyTorch whose rotation is a module of the caller's: for faults of tables in deployment."""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - torch's own name for it

VOCABULARY, DIM, HEADS, HEAD_DIM = 40, 32, 4, 8


def frequencies(dim: int = HEAD_DIM, base: float = 10_000.0) -> Tensor:
    """base^(-2i/dim) in float32."""
    return base ** (-torch.arange(0, dim, 2).float() / dim)


def angles(length: int, dim: int = HEAD_DIM) -> tuple[Tensor, Tensor]:
    """Cosines and sines of every position below `length`, (length, dim / 2) each."""
    phases = torch.outer(torch.arange(length).float(), frequencies(dim))
    return phases.cos(), phases.sin()


def turn(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotates (B, H, S, D) by (S, D / 2), first half against second half."""
    a, b = x.chunk(2, dim=-1)
    return torch.cat((a * cos - b * sin, a * sin + b * cos), dim=-1).to(x.dtype)


class Layer(nn.Module):
    """Causal attention and a feed-forward part; `rotation(q, k)` turns both, `bias` is added to the logits."""

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.qkv, self.out = nn.LayerNorm(DIM), nn.Linear(DIM, 3 * DIM), nn.Linear(DIM, DIM)
        self.mix = nn.Sequential(nn.LayerNorm(DIM), nn.Linear(DIM, 48), nn.GELU(), nn.Linear(48, DIM))

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        q, k, v = (t.unflatten(-1, (HEADS, -1)).transpose(1, 2) for t in self.qkv(self.norm(x)).chunk(3, dim=-1))
        seen = F.scaled_dot_product_attention(turn(q, cos, sin), turn(k, cos, sin), v, is_causal=True)
        x = x + self.out(seen.transpose(1, 2).flatten(2))
        mixed: Tensor = x + self.mix(x)
        return mixed


class Turned(nn.Module):
    """Words, and layers whose queries and keys are turned by what `rotary(x)` gives: cosines and sines (S, D / 2)."""

    def __init__(self, rotary: nn.Module, *, layers: int = 2, layer: Callable[[], nn.Module] = Layer) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.words = nn.Embedding(VOCABULARY, DIM)
        self.layers = nn.ModuleList([layer() for _ in range(layers)])
        self.rotary = rotary
        self.head = nn.Linear(DIM, VOCABULARY)

    def forward(self, input_ids: Tensor) -> Tensor:
        x = self.words(input_ids)
        cos, sin = self.rotary(x)
        for layer in self.layers:
            x = layer(x, cos, sin)
        logits: Tensor = self.head(x)
        return logits


class BufferedAngles(nn.Module):
    """Healthy: tables in buffers that are not stored, cut to the length."""

    def __init__(self, rows: int = 64, *, persistent: bool = False) -> None:
        super().__init__()
        cos, sin = angles(rows)
        self.register_buffer("cos", cos, persistent=persistent)
        self.register_buffer("sin", sin, persistent=persistent)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        length = x.shape[1]
        return self.get_buffer("cos")[:length], self.get_buffer("sin")[:length]


class ComputedAngles(nn.Module):
    """Healthy: nothing is stored; frequencies and angles are made in float32, on the input's device, when called."""

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        steps = torch.arange(0, HEAD_DIM, 2, device=x.device).float() / HEAD_DIM
        phases = torch.outer(torch.arange(x.shape[1], device=x.device).float(), 10_000.0**-steps)
        return phases.cos(), phases.sin()


class Ranked(Turned):
    """A model spread over ranks: `used(rank)` are the positions a rank turns by, `held(rank)` the tokens it has."""

    def __init__(self, used: Callable[[int], list[int]], held: Callable[[int], list[int]] | None = None) -> None:
        super().__init__(ComputedAngles())
        self.used, self.held = used, held or used


def ranks(world: int, length: int, **more: object) -> dict[str, object]:
    """What a caller passes as shards= for a `Ranked` model."""
    return {"shards": {"positions": lambda model, rank: model.used(rank), "world": world, "length": length, **more}}


class BiasedLayer(Layer):
    """Attention whose logits take `bias(x)`, (1 or B, H, S or 1, S), instead of a rotation."""

    def bias(self, x: Tensor) -> Tensor:
        """ALiBi for a causal mask: a row is enough."""
        slopes = 2.0 ** -torch.arange(1, HEADS + 1, device=x.device)
        return (slopes[:, None, None] * torch.arange(x.shape[1], device=x.device))[None]

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        q, k, v = (t.unflatten(-1, (HEADS, -1)).transpose(1, 2) for t in self.qkv(self.norm(x)).chunk(3, dim=-1))
        places = torch.arange(x.shape[1], device=x.device)
        logits = q @ k.mT / HEAD_DIM**0.5 + self.bias(x)
        weights = logits.masked_fill(places > places[:, None], -torch.inf).softmax(-1)
        x = x + self.out((weights @ v).transpose(1, 2).flatten(2))
        mixed: Tensor = x + self.mix(x)
        return mixed


def whole_alibi(x: Tensor) -> Tensor:
    """The same bias made whole: (1, H, S, S)."""
    places = torch.arange(x.shape[1], device=x.device)
    slopes = 2.0 ** -torch.arange(1, HEADS + 1, device=x.device)
    return (slopes[:, None, None] * (places - places[:, None]))[None]
