"""The frequency rules of transformers as an independent judge, computed in float64 where they compute in float32."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import torch
from transformers import LlamaConfig, modeling_rope_utils


class Float64Torch:
    """torch, but what is called float32 there is float64."""

    float = float32 = torch.float64

    def __getattr__(self, name: str) -> Any:
        return getattr(torch, name)


def transformers_rule(
    rope_type: str, head_dim: int, base: float, *, longest: int = 4096, seq_len: int | None = None, **fields: Any
) -> tuple[list[float], float]:
    """(inverse frequencies, attention factor) of ROPE_INIT_FUNCTIONS for a Llama config with these rope parameters."""
    rope = {"rope_type": rope_type, "rope_theta": base, **fields}
    wide = mock.patch.object(torch.Tensor, "float", torch.Tensor.double)
    with _quiet(), wide, mock.patch.object(modeling_rope_utils, "torch", Float64Torch()):
        config = LlamaConfig(hidden_size=2 * head_dim, num_attention_heads=2, max_position_embeddings=longest)
        config.rope_parameters = rope
        inverse, factor = modeling_rope_utils.ROPE_INIT_FUNCTIONS[rope_type](config, seq_len=seq_len)
    return inverse.tolist(), float(factor)


@contextmanager
def _quiet() -> Iterator[None]:
    """Without the advice that transformers logs about unusual but valid numbers."""
    with mock.patch.object(modeling_rope_utils, "logger"):
        yield
