"""Encodings made up for tests. They are not registered, and they break what a careless attention relies on."""

from typing import Any

import torch
from torch import Tensor

from gnomon.encodings.base import PositionEncoding
from tests.helpers.attention_reference import Rule, Vector


class ContentBias(PositionEncoding):
    """Adds q[0] * (query position + 1) / 5 - k[1] * key position / 7: needs q, k and both positions."""

    def content_bias(self, q: Tensor, k: Tensor, query_positions: Tensor, key_positions: Tensor) -> Tensor:
        left = q[..., 0] * (query_positions[:, None] + 1) / 5
        right = k[..., 1] * key_positions[:, None] / 7
        return left[..., :, None] - right[..., None, :]

    @property
    def options(self) -> dict[str, Any]:
        return {}


class BothBiases(PositionEncoding):
    """Adds a bias by head and the content bias above; queries and keys turn into something lopsided too."""

    def __init__(self, num_heads: int) -> None:
        super().__init__()
        self.num_heads = num_heads

    def rotate_query(self, q: Tensor, positions: Tensor) -> Tensor:
        return q * (1 + positions[:, None, :, None] / 10).to(q.dtype)

    def rotate_key(self, k: Tensor, positions: Tensor) -> Tensor:
        return k * (1 - positions[:, None, :, None] / 20).to(k.dtype)

    def bias(self, query_positions: Tensor, key_positions: Tensor) -> Tensor:
        head = torch.arange(self.num_heads, dtype=torch.float32)[:, None, None]
        return (head + 1) * (query_positions[:, None, :, None] - 2 * key_positions[:, None, None, :]) / 9

    def content_bias(self, q: Tensor, k: Tensor, query_positions: Tensor, key_positions: Tensor) -> Tensor:
        return ContentBias().content_bias(q, k, query_positions, key_positions)

    @property
    def options(self) -> dict[str, Any]:
        return {"num_heads": self.num_heads}


def _content_logit(head: int, q: Vector, k: Vector, query_position: int, key_position: int) -> float:
    return q[0] * (query_position + 1) / 5 - k[1] * key_position / 7


def _both_logits(head: int, q: Vector, k: Vector, query_position: int, key_position: int) -> float:
    bias = (head + 1) * (query_position - 2 * key_position) / 9
    return bias + _content_logit(head, q, k, query_position, key_position)


#: The two encodings above in plain floats.
CONTENT = Rule(logit=_content_logit)
BOTH = Rule(
    rotate_query=lambda q, position: [number * (1 + position / 10) for number in q],
    rotate_key=lambda k, position: [number * (1 - position / 20) for number in k],
    logit=_both_logits,
)
