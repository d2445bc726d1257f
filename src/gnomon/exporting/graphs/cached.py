"""A decoder with its cache as inputs and outputs: one graph for the prompt and for each step after it."""

from typing import Any, final

import torch
from jaxtyping import Int64
from torch import Tensor

from gnomon.attention import AttentionMask, Cache, KeyValues
from gnomon.exporting.graphs.base import BATCH, Graph, counted, drawn_ids, left_padded
from gnomon.exporting.graphs.models import vocabulary_of
from gnomon.exporting.result import Case
from gnomon.models import Decoder

PAST = "past_sequence"
TOTAL = "total_sequence"


@final
class CachedGraph(Graph):
    """input_ids, attention_mask, position_ids, past keys and values to logits, present keys and values.

    The names are those of transformers: past_key_values.0.key is (batch, key heads, past, head_dim), and empty for a
    prompt. attention_mask speaks of past and new tokens, (batch, past + new). Positions count up by one over real
    tokens, so those of past keys follow from the mask and from the first new position, which is no padding.
    """

    def __init__(self, model: Decoder) -> None:
        super().__init__()
        self.model = model
        names = [f"{i}.{part}" for i in range(len(model.stack.blocks)) for part in ("key", "value")]
        self.inputs = ("input_ids", "attention_mask", "position_ids", *(f"past_key_values.{name}" for name in names))
        self.outputs = ("logits", *(f"present.{name}" for name in names))

    def forward(self, *tensors: Tensor) -> tuple[Tensor, ...]:
        ids, attention_mask, positions, *past = tensors
        real, length = attention_mask != 0, past[0].shape[2]
        earlier = AttentionMask(real=real[:, :length])
        before = _before(positions[:, :1], real[:, :length].long())
        cache = self.model.new_cache()
        for layer, keys, values in zip(cache.layers, past[::2], past[1::2], strict=True):
            layer.stored = KeyValues(keys, values, before, earlier)
        hidden = self.model.stack(ids, AttentionMask(real=real[:, length:]), positions, cache)
        return (self.model.stack.embedding.logits(hidden), *_stored(cache))

    def open_sizes(self, name: str) -> dict[int, str]:
        if name.startswith("past_key_values"):
            return {0: BATCH, 2: PAST}
        return {0: BATCH, 1: TOTAL} if name == "attention_mask" else super().open_sizes(name)

    def draw(self, case: Case, seed: int) -> dict[str, Tensor]:
        mask = left_padded(case)
        ids = drawn_ids((case.batch, case.length), vocabulary_of(self.model), seed)
        drawn = {"input_ids": ids, "attention_mask": mask, "position_ids": counted(mask, case)}
        attention: Any = self.model.stack.blocks[0].attention
        shape = (case.batch, attention.num_key_heads, case.past, attention.head_dim)
        generator = torch.Generator().manual_seed(seed)
        dtype = attention.key.weight.dtype
        return drawn | {name: torch.randn(shape, generator=generator).to(dtype) for name in self.inputs[3:]}


def _before(first: Int64[Tensor, "B 1"], real: Int64[Tensor, "B P"]) -> Int64[Tensor, "B P"]:
    """The positions of past slots: counted down from the first new one, over real tokens."""
    return first - real.flip(1).cumsum(1).flip(1)


def _stored(cache: Cache) -> list[Tensor]:
    stored = [layer.stored for layer in cache.layers]
    return [part for each in stored if each is not None for part in (each.keys, each.values)]
