"""Layers of a BERT-sized encoder and of a Llama-shaped decoder with random weights, for any way with positions."""

from dataclasses import dataclass
from typing import Final, final

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import gelu, layer_norm, silu

from gnomon.bench.long_context.step import Step
from gnomon.bench.rotations import SEED


@dataclass(frozen=True)
class Sizes:
    """Of one layer. `gated`: the feed-forward part has a gate (SwiGLU), as in Llama; else it is BERT's."""

    width: int
    heads: int
    key_heads: int
    hidden: int
    gated: bool
    depth: int  #: layers of the whole model


ENCODER: Final = Sizes(768, 12, 12, 3072, gated=False, depth=12)
DECODER: Final = Sizes(1024, 16, 4, 2816, gated=True, depth=8)


@final
class Model(nn.Module):
    """`layers` layers, pre-norm, without embeddings and head: (1, S, W) -> (1, S, W)."""

    def __init__(self, sizes: Sizes, layers: int, step: Step) -> None:
        super().__init__()
        self.step = step
        drawn = torch.Generator().manual_seed(SEED)
        self.layers = nn.ModuleList(_Layer(sizes, step, drawn) for _ in range(layers))

    @torch.no_grad()
    def forward(self, x: Float[Tensor, "B S W"]) -> Float[Tensor, "B S W"]:
        for layer in self.layers:
            x = layer(x)
        return x

    @torch.no_grad()
    def heads(self, x: Float[Tensor, "B S W"]) -> tuple[Tensor, Tensor]:
        """Queries and keys of the first layer."""
        q, k, _ = self.layers[0].split(x)  # type: ignore[operator]
        return q, k

    @torch.no_grad()
    def positions_alone(self, heads: tuple[Tensor, Tensor]) -> None:
        """What the layers do for positions in one forward pass; what one layer made is dropped before the next."""
        for _ in self.layers:
            self.step.alone(*heads)


@final
class _Layer(nn.Module):
    def __init__(self, sizes: Sizes, step: Step, drawn: torch.Generator) -> None:
        super().__init__()
        self._sizes, self._step = sizes, step
        head = sizes.width // sizes.heads
        outputs = (sizes.width, *(sizes.key_heads * head,) * 2)
        self.query, self.key, self.value = (_weight(size, sizes.width, drawn) for size in outputs)
        self.output = _weight(sizes.width, sizes.width, drawn)
        self.up = _weight(sizes.hidden, sizes.width, drawn)
        self.gate = _weight(sizes.hidden, sizes.width, drawn) if sizes.gated else None
        self.down = _weight(sizes.width, sizes.hidden, drawn)

    def forward(self, x: Tensor) -> Tensor:
        heads = self._step.attend(*self.split(x))
        x = x + heads.transpose(1, 2).flatten(2) @ self.output.T
        return x + self._fed(layer_norm(x, x.shape[-1:]))

    def split(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Queries, keys and values by head."""
        x, head = layer_norm(x, x.shape[-1:]), self._sizes.width // self._sizes.heads
        q, k, v = ((x @ w.T).unflatten(-1, (-1, head)).transpose(1, 2) for w in (self.query, self.key, self.value))
        return q, k, v

    def _fed(self, x: Tensor) -> Tensor:
        if self.gate is None:
            return gelu(x @ self.up.T) @ self.down.T
        return silu(x @ self.gate.T).mul_(x @ self.up.T) @ self.down.T


def _weight(rows: int, columns: int, drawn: torch.Generator) -> nn.Parameter:
    return nn.Parameter(torch.randn(rows, columns, generator=drawn) * columns**-0.5, requires_grad=False)
