"""What the gallery's config files build: config.json files, and a plain decoder that rotates as it is told."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - torch's own name for it

VOCABULARY, HEADS, HEAD_DIM = 40, 2, 16
#: the sizes that a config of the decoder below states
SIZES = {
    "vocab_size": VOCABULARY,
    "hidden_size": HEADS * HEAD_DIM,
    "num_attention_heads": HEADS,
    "num_hidden_layers": 2,
    "intermediate_size": 48,
    "max_position_embeddings": 4096,
}
LLAMA3 = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 8192,
}


def llama_config(**fields: Any) -> dict[str, Any]:
    """The config of a Llama of these sizes; `fields` win."""
    return {"model_type": "llama", **SIZES, **fields}


def config_file(folder: Path, **fields: Any) -> Path:
    """A config.json with these fields, as the target of an examination; fields that are None are left out."""
    path = folder / "config.json"
    path.write_text(json.dumps({key: value for key, value in fields.items() if value is not None}))
    return path


def powers(base: float, lanes: int = HEAD_DIM) -> Tensor:
    """Plain frequencies of a rotated width: base^(-2i / lanes)."""
    return torch.tensor([base ** (-2 * i / lanes) for i in range(lanes // 2)], dtype=torch.float64)


@dataclass(frozen=True)
class Turn:
    """How one layer rotates: a frequency for each pair, and what cos and sin are multiplied by. None: not at all."""

    frequencies: Tensor
    factor: float = 1.0
    interleaved: bool = False
    rows: int | None = None  #: angles come from a table of so many positions


class TurningLayer(nn.Module):
    """Causal attention that rotates the first lanes of each head."""

    def __init__(self, turn: Turn | None) -> None:
        super().__init__()
        width = HEADS * HEAD_DIM
        self.turn = turn
        self.query, self.key, self.value = (nn.Linear(width, width, bias=False) for _ in range(3))
        self.out, self.norm = nn.Linear(width, width, bias=False), nn.LayerNorm(width)

    def forward(self, x: Tensor, positions: Tensor) -> Tensor:
        states = self.norm(x)
        q, k, v = (f(states).unflatten(-1, (HEADS, -1)).transpose(1, 2) for f in (self.query, self.key, self.value))
        if self.turn is not None:
            q, k = rotated(q, positions, self.turn), rotated(k, positions, self.turn)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        added: Tensor = x + self.out(mixed.transpose(1, 2).flatten(2))
        return added


class TurningDecoder(nn.Module):
    """Words, and one layer for each of `turns`: what a converted or served model does, without its config."""

    def __init__(self, *turns: Turn | None) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.words = nn.Embedding(VOCABULARY, HEADS * HEAD_DIM)
        self.layers = nn.ModuleList([TurningLayer(turn) for turn in turns])
        self.head = nn.Linear(HEADS * HEAD_DIM, VOCABULARY, bias=False)

    def forward(self, input_ids: Tensor) -> Tensor:
        positions = torch.arange(input_ids.shape[1])
        x = self.words(input_ids)
        for layer in self.layers:
            x = layer(x, positions)
        logits: Tensor = self.head(x)
        return logits


def rotated(x: Tensor, positions: Tensor, turn: Turn) -> Tensor:
    """(B, H, S, D) with its first lanes turned, in halves or in neighbouring pairs."""
    angles = (positions[:, None].double() * turn.frequencies).float()
    if turn.rows is not None:
        if len(positions) > turn.rows:
            raise ValueError(f"{len(positions)} positions were given and the table of angles has {turn.rows}.")
        angles = (torch.arange(turn.rows)[:, None].double() * turn.frequencies).float()[positions]
    lanes = 2 * angles.shape[-1]
    part, rest = x[..., :lanes], x[..., lanes:]
    if turn.interleaved:
        cos, sin = (f(angles).repeat_interleave(2, -1) * turn.factor for f in (torch.cos, torch.sin))
        swapped = torch.stack((-part[..., 1::2], part[..., ::2]), -1).flatten(-2)
    else:
        cos, sin = (torch.cat((f(angles),) * 2, -1) * turn.factor for f in (torch.cos, torch.sin))
        half = lanes // 2
        swapped = torch.cat((-part[..., half:], part[..., :half]), -1)
    return torch.cat((part * cos + swapped * sin, rest), -1)


def turning(frequencies: Tensor | Sequence[float], factor: float = 1.0, *, layers: int = 2) -> TurningDecoder:
    """A decoder whose layers all turn alike."""
    turn = Turn(torch.as_tensor(frequencies, dtype=torch.float64), factor)
    return TurningDecoder(*[turn] * layers).eval()


def cached(rows: int, factor: float = 1.0) -> TurningDecoder:
    """A decoder at base 10,000 that looks angles up in a table of `rows` positions."""
    turn = Turn(powers(10_000.0) / factor, rows=rows)
    return TurningDecoder(turn, turn).eval()


def gemma3_config() -> dict[str, Any]:
    """A Gemma 3 from 4B on as it was published, at a small size: one scaling, meant for the full layers."""
    return {
        "model_type": "gemma3_text",
        **SIZES,
        "head_dim": HEAD_DIM,
        "sliding_window": 1024,
        "layer_types": ["sliding_attention", "full_attention"],
        "rope_theta": 1e6,
        "rope_local_base_freq": 1e4,
        "rope_scaling": {"rope_type": "linear", "factor": 8.0},
    }


def gemma3(*, full: float | None, sliding: float | None = None) -> TurningDecoder:
    """A windowed and a full layer as something rotates them that divides positions by these factors."""
    windowed, seeing_all = powers(1e4) / (sliding or 1.0), powers(1e6) / (full or 1.0)
    return TurningDecoder(Turn(windowed), Turn(seeing_all)).eval()
