"""Attention written out in plain Python floats: loops over rows, heads, queries and keys. No masks."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from gnomon.attention import Attention

Vector = list[float]
Matrix = list[Vector]


def keep(vector: Vector, position: int) -> Vector:
    return vector


def nothing(head: int, q: Vector, k: Vector, query_position: int, key_position: int) -> float:
    return 0.0


@dataclass(frozen=True)
class Rule:
    """What one encoding does to a query or a key, and what it adds to one logit."""

    rotate_query: Callable[[Vector, int], Vector] = keep
    rotate_key: Callable[[Vector, int], Vector] = keep
    logit: Callable[[int, Vector, Vector, int, int], float] = nothing
    scale: float | None = None  #: None: 1 / sqrt(head width)
    sees: Callable[[int, int], bool] = lambda query_slot, key_slot: True


def attention_reference(
    layer: Attention,
    x: Tensor,
    positions: Tensor,
    *,
    rule: Rule,
    real: list[list[int]] | None = None,
    documents: list[list[int]] | None = None,
) -> Tensor:
    """The output of `layer`, in float64, from its weights and the formulas alone. Rows of padding see themselves."""
    batch, length, _ = x.shape
    place = positions.expand(batch, length).tolist()
    real = real or [[1] * length] * batch
    documents = documents or [[0] * length] * batch
    rows = [_row(layer, x[b].tolist(), place[b], real[b], documents[b], rule) for b in range(batch)]
    return torch.tensor(rows, dtype=torch.float64)


def _row(layer: Attention, x: Matrix, place: list[int], real: list[int], documents: list[int], rule: Rule) -> Matrix:
    heads, width = layer.num_heads, layer.head_dim
    shared = heads // layer.num_key_heads
    scale = 1 / math.sqrt(width) if rule.scale is None else rule.scale
    q, k, v = (_linear(part, x) for part in (layer.query, layer.key, layer.value))
    mixed: Matrix = []
    for i in range(len(x)):
        seen = [j for j in range(len(x)) if real[j] and documents[i] == documents[j] and (j <= i or not layer.causal)]
        seen = sorted({*(j for j in seen if rule.sees(i, j)), i})
        out: Vector = []
        for h in range(heads):
            query = rule.rotate_query(q[i][h * width : (h + 1) * width], place[i])
            columns = slice(h // shared * width, (h // shared + 1) * width)
            keys = {j: rule.rotate_key(k[j][columns], place[j]) for j in seen}
            logits = {
                j: sum(a * b for a, b in zip(query, keys[j], strict=True)) * scale
                + rule.logit(h, query, keys[j], place[i], place[j])
                for j in seen
            }
            top = max(logits.values())
            weights = {j: math.exp(logit - top) for j, logit in logits.items()}
            total = sum(weights.values())
            out += [sum(weights[j] * v[j][columns][d] for j in seen) / total for d in range(width)]
        mixed.append(out)
    return _linear(layer.output, mixed)


def _linear(layer: torch.nn.Linear, rows: Matrix) -> Matrix:
    weight: Matrix = layer.weight.detach().double().tolist()
    bias = [0.0] * len(weight) if layer.bias is None else layer.bias.detach().double().tolist()
    return [
        [sum(a * b for a, b in zip(column, row, strict=True)) + c for column, c in zip(weight, bias, strict=True)]
        for row in rows
    ]
