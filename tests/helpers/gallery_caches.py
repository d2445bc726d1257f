"""Small decoders whose caches are kept, filled, bounded or shifted; and decoders of packed rows and of two streams."""

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - torch's own name for it

from tests.helpers.gallery_decoding import HEAD_DIM, HEADS, Core, KeysValues, Learning, Returning


class Keeping(Core):
    """`logits = model(tokens, start_pos)`: keys and values stay in buffers of the module, as in Llama's first code."""

    keys: Tensor
    values: Tensor

    def __init__(self, *, room: int = 64, rows: int = 4) -> None:
        super().__init__()
        size = (len(self.norms), rows, HEADS, room, HEAD_DIM)
        self.register_buffer("keys", torch.zeros(size), persistent=False)
        self.register_buffer("values", torch.zeros(size), persistent=False)

    def forward(self, tokens: Tensor, start_pos: int = 0) -> Tensor:
        batch, new = tokens.shape
        end = start_pos + new
        slots = torch.arange(end)[None]
        positions = slots[:, start_pos:]
        x = self.embed(tokens, positions)
        for layer, norm in enumerate(self.norms):
            q, k, v = self.project(layer, norm(x))
            self.keys[layer, :batch, :, start_pos:end] = self.rotate(k, positions)
            self.values[layer, :batch, :, start_pos:end] = v
            k, v = self.keys[layer, :batch, :, :end], self.values[layer, :batch, :, :end]
            x = x + self.attend(layer, self.rotate(q, positions), k, v, self.visible(positions, slots))
        logits: Tensor = self.head(x)
        return logits


class Crossing(Returning):
    """`logits, past = model(tokens, source, past)`: before the layers, tokens attend a source by distance too."""

    slope = 0.5

    def query_places(self, tokens: Tensor, past: int) -> Tensor:
        """Positions (1, S) of the queries, on which the bias of the cross attention depends."""
        return self.places(tokens, past)

    def forward(  # type: ignore[override]
        self, tokens: Tensor, source: Tensor, past: KeysValues | None = None
    ) -> tuple[Tensor, KeysValues]:
        self.source, self.before = source, past[0][0].shape[2] if past else 0
        return super().forward(tokens, past)

    def embed(self, tokens: Tensor, positions: Tensor) -> Tensor:
        x = super().embed(tokens, positions)
        places = self.query_places(tokens, self.before)
        distance = (places[:, :, None] - torch.arange(self.source.shape[1])[None, None]).abs()
        mixed = F.scaled_dot_product_attention(x, self.source, self.source, attn_mask=-self.slope * distance.float())
        return x + mixed


class Sinking(Core):
    """A cache of `window` tokens: the first `sinks` stay, the latest follow; keys are turned by their place in it."""

    def __init__(self, *, layers: int = 2, sinks: int = 2, window: int = 6) -> None:
        super().__init__(layers=layers)
        self.sinks, self.window = sinks, window

    def cut(self, x: Tensor, room: int, new: int) -> Tensor:
        """At most `room` slots of (B, H, S, D): the first ones that stay, and the latest."""
        over = max(0, x.shape[2] - room)
        return torch.cat((x[:, :, : self.sinks], x[:, :, self.sinks + over :]), dim=2) if over else x

    def key_places(self, total: int, new: int, fed: int) -> Tensor:
        """Positions (1, total) of the keys in the window, the last `new` of them new, after `fed` tokens in all."""
        return torch.arange(total)[None]

    def forward(self, tokens: Tensor, past: Any = None) -> tuple[Tensor, Any]:
        new, fed = tokens.shape[1], tokens.shape[1] + (past[1] if past else 0)
        x, kept = self.words(tokens), []
        for layer, norm in enumerate(self.norms):
            q, k, v = self.project(layer, norm(x))
            if past:
                old = (self.cut(part, max(self.sinks, self.window - new), new) for part in past[0][layer])
                k, v = (torch.cat(both, dim=2) for both in zip(old, (k, v), strict=True))
            slots = torch.arange(k.shape[2])[None]
            turned = self.rotate(k, self.key_places(k.shape[2], new, fed))
            seen = self.visible(slots[:, -new:], slots)
            x = x + self.attend(layer, self.rotate(q, slots[:, -new:]), turned, v, seen)
            kept.append((self.cut(k, self.window, new), self.cut(v, self.window, new)))
        return self.head(x), (kept, fed)


class Generating(Keeping):
    """The same with its own loop."""

    def advance(self, offset: int, prompt: int) -> int:
        """The offset of the next call, after one that began at `offset`."""
        return offset + (1 if offset else prompt)

    @torch.no_grad()
    def generate(self, tokens: Tensor, *, max_new_tokens: int) -> Tensor:
        prompt, offset, new = tokens.shape[1], 0, tokens
        for _ in range(max_new_tokens):
            new = self(new, start_pos=offset)[:, -1:].argmax(-1)
            tokens = torch.cat((tokens, new), dim=1)
            offset = self.advance(offset, prompt)
        return tokens


class Offsets:
    """A cache that grows, with how many tokens each row has, as mlx-lm's batched cache."""

    def __init__(self) -> None:
        self.layers: dict[int, tuple[Tensor, Tensor]] = {}
        self.offset = torch.zeros((), dtype=torch.int64)

    def add(self, layer: int, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        if layer in self.layers:
            k, v = (torch.cat((old, new), dim=2) for old, new in zip(self.layers[layer], (k, v), strict=True))
        self.layers[layer] = k, v
        return k, v

    def crop(self, count: int) -> None:
        """Keep the first `count` slots."""
        self.layers = {i: (k[:, :, :count], v[:, :, :count]) for i, (k, v) in self.layers.items()}
        self.offset = torch.tensor(count)

    def reorder(self, rows: Tensor) -> None:
        """Keep these rows, in this order."""
        self.layers = {i: (k[rows], v[rows]) for i, (k, v) in self.layers.items()}


class Filling(Core):
    """`logits = model(tokens, cache=model.make_cache())`: an object that each layer fills."""

    def make_cache(self) -> Offsets:
        return Offsets()

    def turned(self, layer: int, qkv: tuple[Tensor, ...], cache: Offsets) -> tuple[Tensor, Tensor, Tensor]:
        """Queries, and all keys and values so far."""
        q, k, v = qkv
        positions = (cache.offset + torch.arange(q.shape[2]))[None]
        k, v = cache.add(layer, self.rotate(k, positions), v)
        return self.rotate(q, positions), k, v

    def forward(self, tokens: Tensor, cache: Any = None) -> Tensor:
        cache = Offsets() if cache is None else cache
        before, new = int(cache.offset), tokens.shape[1]
        slots = torch.arange(before + new)[None]
        x = self.words(tokens)
        for layer, norm in enumerate(self.norms):
            q, k, v = self.turned(layer, self.project(layer, norm(x)), cache)
            x = x + self.attend(layer, q, k, v, self.visible(slots[:, before:], slots))
        cache.offset = torch.tensor(before + new)
        logits: Tensor = self.head(x)
        return logits


class Shifted(Offsets):
    """A cache whose keys can be moved by some positions; what was stored is kept, and turned once from there."""

    def __init__(self, rotate: Any) -> None:
        super().__init__()
        self.rotate, self.moved = rotate, 0
        self.stored: dict[int, Tensor] = {}

    def shift(self, by: int) -> None:
        """Move all keys by so many positions."""
        self.stored = self.stored or {i: k for i, (k, _) in self.layers.items()}
        self.moved += by
        self.layers = {i: (self.rotate(self.stored[i], self.moved), v) for i, (_, v) in self.layers.items()}


class ShiftedAgain(Shifted):
    """The same, but each move turns what the last one left."""

    def shift(self, by: int) -> None:
        self.layers = {i: (self.rotate(k, by), v) for i, (k, v) in self.layers.items()}


class Shifting(Filling):
    """A decoder whose cache can be shifted; `scale` is what each rotation of the cache multiplies keys with."""

    def __init__(self, kind: type[Shifted] = Shifted, *, scale: float = 1.0) -> None:
        super().__init__()
        self.kind, self.scale = kind, scale

    def make_cache(self) -> Offsets:
        return self.kind(lambda keys, by: self.rotate(keys, torch.tensor([[by]])) * self.scale)


class Packed(Learning):
    """`logits = model(tokens, document_ids)`: documents of a row do not see each other, and each counts from 0."""

    def restart(self, documents: Tensor) -> Tensor:
        """Positions (B, S) from document ids (B, S)."""
        count = torch.arange(documents.shape[1]).expand_as(documents)
        first = torch.ones_like(documents, dtype=torch.bool)
        first[:, 1:] = documents[:, 1:] != documents[:, :-1]
        return count - (count * first).cummax(dim=1).values

    def same(self, documents: Tensor) -> Tensor:
        """Which tokens belong together, (B, 1, S, S)."""
        return (documents[:, None, :] == documents[:, :, None])[:, None]

    def forward(self, tokens: Tensor, document_ids: Tensor | None = None) -> Tensor:  # type: ignore[override]
        documents = torch.ones_like(tokens) if document_ids is None else document_ids
        slots = torch.arange(tokens.shape[1])[None]
        positions = self.restart(documents)
        x = self.embed(tokens, positions)
        for layer, norm in enumerate(self.norms):
            q, k, v = self.project(layer, norm(x))
            q, k = self.rotate_both(q, k, positions)
            x = x + self.attend(layer, q, k, v, self.visible(slots, slots) & self.same(documents))
        logits: Tensor = self.head(x)
        return logits
