"""Small models with attention written out, as people write it: subclasses override turn, products and bias."""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.adapters.claims import Claim

WORDS, BASE = 50, 100.0
Attend = Callable[[Tensor, Tensor, Tensor], Tensor]


class Block(nn.Module):
    """Pre-norm attention and a feed-forward part; how it attends is given with the call."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.norm, self.qkv, self.out = nn.LayerNorm(width), nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mix = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 48), nn.GELU(), nn.Linear(48, width))
        self.heads = heads

    def forward(self, x: Tensor, attend: Attend) -> Tensor:
        q, k, v = (t.unflatten(-1, (self.heads, -1)).transpose(1, 2) for t in self.qkv(self.norm(x)).chunk(3, dim=-1))
        x = x + self.out(attend(q, k, v).transpose(1, 2).flatten(2))
        mixed: Tensor = x + self.mix(x)
        return mixed


class Form(nn.Module):
    """A small decoder without positions; `turn`, `products` and `bias` are where an encoding comes in."""

    heads, head_dim, layers, causal = 4, 8, 2, True

    def __init__(self, config: Any = None) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.config = config
        width = self.heads * self.head_dim
        self.words = nn.Embedding(WORDS, width)
        self.blocks = nn.ModuleList([Block(width, self.heads) for _ in range(self.layers)])

    def turn(self, x: Tensor, positions: Tensor, layer: int) -> Tensor:
        """Queries or keys (B, H, S, D) at positions (B, S)."""
        return x

    def products(self, q: Tensor, k: Tensor) -> Tensor:
        """(B, H, Q, K), scaled."""
        products: Tensor = q @ k.mT * self.head_dim**-0.5
        return products

    def bias(self, length: int) -> Tensor:
        """What is added to the logits, to be broadcast to (B, H, Q, K)."""
        return torch.zeros(length, length)

    def embed(self, tokens: Tensor, positions: Tensor) -> Tensor:
        x: Tensor = self.words(tokens)
        return x

    def forward(self, input_ids: Tensor, position_ids: Tensor | None = None) -> Tensor:
        count = torch.arange(input_ids.shape[1], device=input_ids.device)
        places = count.expand_as(input_ids) if position_ids is None else position_ids
        x = self.embed(input_ids, places)
        for number, block in enumerate(self.blocks):
            x = block(x, lambda q, k, v, number=number: self.attend(q, k, v, places, number))
        return x

    def attend(self, q: Tensor, k: Tensor, v: Tensor, places: Tensor, layer: int) -> Tensor:
        logits = self.products(self.turn(q, places, layer), self.turn(k, places, layer)) + self.bias(q.shape[2]).to(
            q.device
        )
        if self.causal:
            logits = logits.masked_fill(
                torch.ones(logits.shape[-2:], dtype=torch.bool, device=q.device).triu(1), -torch.inf
            )
        return logits.softmax(-1) @ v


def inverse(width: int, base: float = BASE) -> Tensor:
    """base^(-2i / width) for each pair."""
    return base ** -(torch.arange(0, width, 2) / width)


def tables(positions: Tensor, width: int, base: float = BASE) -> tuple[Tensor, Tensor]:
    """cos and sin (B, 1, S, width / 2)."""
    angles = positions[:, None, :, None] * inverse(width, base)
    return angles.cos(), angles.sin()


def halves(x: Tensor) -> Tensor:
    """(a, b) -> (-b, a) for the two halves."""
    a, b = x.chunk(2, dim=-1)
    return torch.cat((-b, a), dim=-1)


def neighbours(x: Tensor) -> Tensor:
    """(a, b) -> (-b, a) for each two neighbours."""
    return torch.stack((-x[..., 1::2], x[..., 0::2]), dim=-1).flatten(-2)


def rotary(width: int, **options: Any) -> Claim:
    """What a config would say of a plain rotation."""
    frequencies = {"kind": "plain", "base": BASE}
    return Claim("rotary", "layers.*.attention", {"head_dim": width, "frequencies": frequencies, **options})


class Angles(Form):
    """Rotates halves by what `angles` gives."""

    def __init__(self) -> None:
        super().__init__()
        self.inverse = nn.Buffer(inverse(self.head_dim), persistent=False)

    def angles(self, positions: Tensor) -> Tensor:
        return positions[..., None].float() * self.inverse

    def turn(self, x: Tensor, positions: Tensor, layer: int) -> Tensor:
        angles = self.angles(positions).float()[:, None]
        cos, sin = (torch.cat((table, table), dim=-1) for table in (angles.cos(), angles.sin()))
        return x * cos + halves(x) * sin


class Rotated(Form):
    """The rotation of the paper's halves."""

    def turn(self, x: Tensor, positions: Tensor, layer: int) -> Tensor:
        cos, sin = tables(positions, self.head_dim)
        return x * torch.cat((cos, cos), dim=-1) + halves(x) * torch.cat((sin, sin), dim=-1)


def published(heads: int) -> Tensor:
    """ALiBi's slopes: 2^(-8h/H), and the rule for other numbers of heads."""
    near = 1 << (heads.bit_length() - 1)
    slopes = [2.0 ** (-8 * (h + 1) / near) for h in range(near)]
    slopes += [2.0 ** (-4 * (2 * h + 1) / near) for h in range(heads - near)]
    return torch.tensor(slopes)


class Sloped(Form):
    """ALiBi in a decoder; `slopes` and `distance` are what reports got wrong."""

    def slopes(self) -> Tensor:
        return published(self.heads)

    def distance(self, length: int) -> Tensor:
        places = torch.arange(length)
        return (places[:, None] - places).abs()

    def bias(self, length: int) -> Tensor:
        return -self.slopes()[:, None, None] * self.distance(length)


def alibi(heads: int) -> Claim:
    """What a config would say of ALiBi."""
    return Claim("alibi", "layers.*.attention", {"num_heads": heads})


class Shifted(Form):
    """The position term of Transformer-XL: queries with vectors of distances, brought into place by a shift."""

    def __init__(self, config: Any = None) -> None:
        super().__init__(config)
        self.vectors = nn.Parameter(torch.randn(self.heads, 64, self.head_dim))

    def distances(self, length: int) -> Tensor:
        """(H, R, D), from the furthest distance back to 0."""
        return self.vectors[:, :length].flip(1)

    def shift(self, x: Tensor) -> Tensor:
        """(B, H, Q, R) -> (B, H, Q, K): a column in front, the first row dropped."""
        batch, heads, queries, width = x.shape
        padded = torch.cat((x.new_zeros(batch, heads, queries, 1), x), dim=-1)
        return padded.view(batch, heads, width + 1, queries)[:, :, 1:].reshape(x.shape)

    def products(self, q: Tensor, k: Tensor) -> Tensor:
        term = self.shift(q @ self.distances(q.shape[2]).mT)[..., : k.shape[2]]
        products: Tensor = (q @ k.mT + term) * self.head_dim**-0.5
        return products


class ShiftedBothWays(Shifted):
    """2 S - 1 distances, both signs; column S - 1 - query + key."""

    causal = False

    def distances(self, length: int) -> Tensor:
        return self.vectors[:, 32 - length : 31 + length]

    def shift(self, x: Tensor) -> Tensor:
        batch, heads, queries, width = x.shape
        padded = torch.cat((x.new_zeros(batch, heads, queries, 1), x), dim=-1)
        return padded.view(batch, heads, width + 1, queries)[:, :, 1:].reshape(x.shape)[..., :queries]


class Bucketed(Form):
    """One learned number for each head and bucket; `bucket` is T5's rule of a decoder, 32 up to distance `farthest`."""

    farthest = 128

    def __init__(self) -> None:
        super().__init__()
        self.numbers = nn.Embedding(32, self.heads)
        nn.init.normal_(self.numbers.weight)

    def bucket(self, distance: Tensor) -> Tensor:
        far = 16 + ((distance / 16).clamp(min=1).log() / math.log(self.farthest / 16) * 16).long()
        return torch.where(distance < 16, distance, far.clamp(max=31))

    def bias(self, length: int) -> Tensor:
        places = torch.arange(length)
        numbers: Tensor = self.numbers(self.bucket((places[:, None] - places).clamp(min=0)))
        return numbers.permute(2, 0, 1)


def transformer_xl(heads: int, head_dim: int) -> Claim:
    """What a config would say of Transformer-XL's encoding."""
    return Claim("transformer_xl", "layers.*.attention", {"num_heads": heads, "head_dim": head_dim})
