"""Small decoders as people write them, each with another kind of cache; broken by overriding one method."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - torch's own name for it

VOCABULARY, DIM, HEADS, HEAD_DIM = 60, 32, 4, 8
KeysValues = list[tuple[Tensor, Tensor]]


class Core(nn.Module):
    """Words, layers with rotary keys that are stored rotated, and a head. Subclasses say where the cache is."""

    inv_freq: Tensor

    def __init__(self, *, layers: int = 2, base: float = 10_000.0) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.words, self.head = nn.Embedding(VOCABULARY, DIM), nn.Linear(DIM, VOCABULARY)
        self.qkv = nn.ModuleList(nn.Linear(DIM, 3 * DIM) for _ in range(layers))
        self.out = nn.ModuleList(nn.Linear(DIM, DIM) for _ in range(layers))
        self.norms = nn.ModuleList(nn.LayerNorm(DIM) for _ in range(layers))
        self.register_buffer("inv_freq", base ** -(torch.arange(0, HEAD_DIM, 2) / HEAD_DIM), persistent=False)

    def embed(self, tokens: Tensor, positions: Tensor) -> Tensor:
        x: Tensor = self.words(tokens)
        return x

    def rotate(self, x: Tensor, positions: Tensor) -> Tensor:
        """(B, H, S, D) turned by positions (B or 1, S)."""
        angles = (positions[..., None].float() * self.inv_freq.float())[:, None]
        cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
        first, second = x.chunk(2, dim=-1)
        return torch.cat((first * cos - second * sin, second * cos + first * sin), dim=-1)

    def visible(self, query: Tensor, key: Tensor) -> Tensor:
        """Which key slot (B or 1, K) a query slot (B or 1, Q) sees: (B or 1, 1, Q, K)."""
        return (key[:, None, :] <= query[:, :, None])[:, None]

    def project(self, layer: int, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        q, k, v = (t.unflatten(-1, (HEADS, -1)).transpose(1, 2) for t in self.qkv[layer](x).chunk(3, dim=-1))
        return q, k, v

    def attend(self, layer: int, q: Tensor, k: Tensor, v: Tensor, seen: Tensor) -> Tensor:
        out: Tensor = self.out[layer](
            F.scaled_dot_product_attention(q, k, v, attn_mask=seen).transpose(1, 2).flatten(2)
        )
        return out


class Returning(Core):
    """`logits, past = model(tokens, past)`."""

    def places(self, tokens: Tensor, past: int) -> Tensor:
        """Positions (1, S) of new tokens after `past` cached ones."""
        return torch.arange(past, past + tokens.shape[1])[None]

    def forward(self, tokens: Tensor, past: KeysValues | None = None) -> tuple[Tensor, KeysValues]:
        before = past[0][0].shape[2] if past else 0
        slots = torch.arange(before + tokens.shape[1])[None]
        positions = self.places(tokens, before)
        x, kept = self.embed(tokens, positions), []
        for layer, norm in enumerate(self.norms):
            q, k, v = self.project(layer, norm(x))
            q, k = self.rotate_both(q, k, positions)
            if past:
                k, v = torch.cat((past[layer][0], k), dim=2), torch.cat((past[layer][1], v), dim=2)
            kept.append((k, v))
            x = x + self.attend(layer, q, k, v, self.visible(slots[:, before:], slots))
        return self.head(x), kept

    def rotate_both(self, q: Tensor, k: Tensor, positions: Tensor) -> tuple[Tensor, Tensor]:
        return self.rotate(q, positions), self.rotate(k, positions)


class Learning(Returning):
    """The same with a learned table instead of rotations."""

    def __init__(self, *, rows: int = 64) -> None:
        super().__init__()
        self.table = nn.Embedding(rows, DIM)

    def embed(self, tokens: Tensor, positions: Tensor) -> Tensor:
        x: Tensor = self.words(tokens) + self.table(positions)
        return x

    def rotate(self, x: Tensor, positions: Tensor) -> Tensor:
        return x


class Rescaled(Returning):
    """Frequencies are divided by `factor` in any text that passes `original` positions, and by 1 before."""

    def __init__(self, *, original: int = 8, factor: float = 4.0) -> None:
        super().__init__()
        self.original, self.factor, self.longest = original, factor, 0

    def places(self, tokens: Tensor, past: int) -> Tensor:
        self.longest = past + tokens.shape[1]
        return super().places(tokens, past)

    def rotate(self, x: Tensor, positions: Tensor) -> Tensor:
        factor = self.factor if self.longest > self.original else 1.0
        return super().rotate(x, positions / factor)


class Tabled(Returning):
    """Cosines and sines come from a table of `rows`; it refuses what it does not hold, unless a subclass grows it."""

    table: Tensor

    def __init__(self, *, rows: int = 32) -> None:
        super().__init__()
        self.register_buffer("table", self.built(rows), persistent=False)

    def built(self, rows: int) -> Tensor:
        """Cosines and sines, (rows, HEAD_DIM)."""
        angles = torch.arange(rows)[:, None] * self.inv_freq
        return torch.cat((angles.cos(), angles.sin()), dim=-1)

    def need(self, new: int, past: int) -> None:
        """Make sure that the table holds `past` + `new` rows."""
        if past + new > len(self.table):
            raise ValueError(f"{past} cached and {new} new tokens do not fit a table of {len(self.table)} rows")

    def rotate_both(self, q: Tensor, k: Tensor, positions: Tensor) -> tuple[Tensor, Tensor]:
        start, new = int(positions[0, 0]), positions.shape[1]
        self.need(new, start)
        cos, sin = self.table[start : start + new].chunk(2, dim=-1)
        return self.turned(q, cos, sin), self.turned(k, cos, sin)

    def turned(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        first, second = x.chunk(2, dim=-1)
        return torch.cat((first * cos - second * sin, second * cos + first * sin), dim=-1)


class Masked(Learning):
    """`logits, past = model(tokens, attention_mask, past_key_values)`: left padding is heeded, on through the cache."""

    def from_mask(self, real: Tensor, new: int, past: int) -> Tensor:
        """Positions (B, new) of the last tokens of a mask (B, past + new)."""
        return (real.long().cumsum(1) - 1).clamp(min=0)[:, -new:]

    def forward(  # type: ignore[override]
        self, tokens: Tensor, attention_mask: Tensor | None = None, past_key_values: KeysValues | None = None
    ) -> tuple[Tensor, KeysValues]:
        past = past_key_values[0][0].shape[2] if past_key_values else 0
        total = past + tokens.shape[1]
        real = (torch.ones(len(tokens), total) if attention_mask is None else attention_mask).bool()
        slots = torch.arange(total)[None]
        own = torch.eye(total, dtype=torch.bool)[past:][None, None]  # a padded query sees itself: nothing is NaN
        seen = (self.visible(slots[:, past:], slots) & real[:, None, None]) | own
        x, kept = self.embed(tokens, self.from_mask(real, tokens.shape[1], past)), []
        for layer, norm in enumerate(self.norms):
            q, k, v = self.project(layer, norm(x))
            if past_key_values:
                k, v = (torch.cat(both, dim=2) for both in zip(past_key_values[layer], (k, v), strict=True))
            kept.append((k, v))
            x = x + self.attend(layer, q, k, v, seen)
        return self.head(x), kept


def example(length: int = 12) -> dict[str, Tensor]:
    """Token ids for any of these."""
    return {"tokens": torch.arange(5, 5 + 2 * length).view(2, length) % VOCABULARY}


def tokens(target: nn.Module) -> tuple[nn.Module, dict[str, Tensor]]:
    """The model in eval mode with an example of its arguments."""
    return target.eval(), example()
