"""Small models whose rotary frequencies change at 16 tokens, what they are told of their tokens, and the formula."""

import math
from collections.abc import Iterator
from functools import cache
from typing import Any

import torch
from torch import Tensor

from gnomon import positions
from gnomon.attention import Attention, AttentionMask
from gnomon.encodings import Rotary, rotary
from gnomon.encodings.frequencies import DynamicNTK, DynamicYaRN, Frequencies, LongRoPE
from gnomon.models import Decoder, ModelOptions
from tests.helpers.attention_reference import Vector
from tests.helpers.encodings import factor_reference, inverse_reference
from tests.helpers.weights import redraw

TRAINED, LENGTH, VOCABULARY, WIDTH, TURNED = 16, 27, 30, 8, 6
RULES: dict[str, Frequencies] = {
    "longrope": LongRoPE([1.0, 1.1, 1.5], [1.2, 3.0, 9.0], TRAINED, base=50.0, attention_factor=[1.0, 1.3]),
    "dynamic": DynamicNTK(4.0, TRAINED, 50.0),
    "dynamic_yarn": DynamicYaRN(TRAINED, base=50.0, beta_fast=4.0),
}
#: rows that cross the trained length at different slots: after 16 tokens, after 11 + 16, and never
LEFT = torch.tensor([[0] * pads + [1] * (LENGTH - pads) for pads in (0, 9, 14)])
PACKED = torch.tensor([[0] * 20 + [1] * 7, [0] * 5 + [1] * 22, [0] * 9 + [1] * 9 + [2] * 9])
#: one by one; chunks that straddle the switch at slot 16; and a long start
SPLITS = {"steps": [1] * LENGTH, "fives": [5] * 5 + [2], "uneven": [15, 3, 9]}


def encoding(rule: str, layout: Any = "half") -> Rotary:
    return Rotary(WIDTH, rotary_dim=TURNED, layout=layout, frequencies=RULES[rule])


def attention(made: Rotary, *, causal: bool = True, window: int | None = None) -> Attention:
    layer = Attention(4 * WIDTH, num_heads=4, num_key_heads=2, encoding=made, causal=causal, window=window)
    redraw(layer, std=0.3)
    return layer


def decoder(rule: str) -> Decoder:
    options = ModelOptions(VOCABULARY, dim=4 * WIDTH, num_layers=3, num_heads=4, num_key_heads=2)
    model = Decoder(options, encoding=encoding(rule))
    redraw(model, std=0.3)
    return model


def slices(split: str, *, first: int = 1) -> Iterator[slice]:
    """The first slice has at least `first` slots, of several sizes if need be."""
    start = end = 0
    for size in SPLITS[split]:
        end += size
        if end >= first:
            yield slice(start, end)
            start = end


SETTINGS: dict[str, tuple[AttentionMask, Tensor]] = {
    "plain": (AttentionMask(), torch.arange(LENGTH)[None]),
    "left padding": (AttentionMask.of(LEFT), positions.from_mask(LEFT)),
    "packed": (AttentionMask.of(documents=PACKED), positions.from_documents(PACKED)),
    "offset": (AttentionMask(), torch.arange(LENGTH) + torch.tensor([[0], [3], [100]])),
}


@cache
def formula(rule: str, length: int) -> tuple[list[float], float]:
    """Inverse frequencies and attention factor, by the scalar formulas of the rule that holds at this length."""
    fixed = RULES[rule].at_length(length)
    return [inverse_reference(fixed, i, TURNED) for i in range(TURNED // 2)], factor_reference(fixed)


def turned(vector: Vector, position: int, *, rule: str, length: int) -> Vector:
    inverse, factor = formula(rule, length)
    return rotary.reference(vector, position, inverse, "half", factor)


def logit(head: int, q: Vector, k: Vector, at: int, key_at: int, *, rule: str) -> float:
    """What the rotations by the query's own length add to q . k, scaled."""
    a, b = (turned(vector, place, rule=rule, length=at + 1) for vector, place in ((q, at), (k, key_at)))
    return sum(x * y - u * v for x, y, u, v in zip(a, b, q, k, strict=True)) / math.sqrt(WIDTH)
